"""The `System` to which elements add coordinates, rows, mass and forces, and the reading of what a file says.

Start with `system.py`; `fields.py` has the types of an element's keys, `arithmetic.py` reads written numbers.
"""
