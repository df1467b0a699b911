"""Figures for reports and commands, as SVG in the project's own style.

Start with `figures.py`.
"""
