"""Elements with mass: bodies, rods, points and directions that are fixed on a body.

Start with `rigid_body.py`.
"""
