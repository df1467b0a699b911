"""This machine's side of a wire: network namespaces, cards and their habits, cables that are in or out.

Start with `doctor.py`.
"""
