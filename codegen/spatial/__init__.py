"""Spatial vectors and inertias between links, and what bodies that bend add to these.

Start with `algebra.py`; `modes.py` has the masses of a body that bends, `node.py` the motion of its nodes.
"""
