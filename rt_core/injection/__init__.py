"""Faults, delays and loads on purpose; a run without them has none of this in its cycle.

Start with `inject.pyx`.
"""
