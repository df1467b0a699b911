"""The equations of motion of a `System`, and the `Program` that a formulation makes of them.

`program.py` is the record that everything passes; `equations.py` writes rows, mass and forces as expressions.
Start with `program.py`.
"""
