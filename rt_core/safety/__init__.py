"""The guard, what it trips on, and what the hands felt.

Start with `guard.pyx`; `trips.py` has its table.
"""
