"""Faults of a logged encoder: found with row, time and value, and what is done about each.

Start with `finder.py`; `finding.py` has the kinds and what may be done about them.
"""
