"""Trees with loops over the coordinates of their joints, as a `System` with rows and a mass matrix that moves.

Start with `closed.py`; `tangent.py` and `row_slopes.py` have the derivatives that a step needs, link by link.
"""
