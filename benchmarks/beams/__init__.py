"""Motions and frequencies of beams in mechanisms, beside exact solutions and published ones.

Start with `motions.py`.
"""
