"""Bodies that bend: a finite-element structure, its reduction to a few modes, and the constants of these.

Start with `structure.py`; `beam.py` and `neutral_file.py` make structures, `reduction.py` finds their modes.
"""
