"""The graph of a mechanism: bodies and joints, a spanning tree of them, cuts, and frames for joint coordinates.

Start with `motion.py`, whose `topology` puts everything together.
"""
