"""Joint coordinates as expressions: where links are, how they move, what it takes to move them.

Start with `recursion.py`; `mechanism.py` is the same mechanism with joint coordinates as its own.
"""
