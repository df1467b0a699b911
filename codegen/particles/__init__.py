"""Equations of motion over particles: four of each link that has mass, six of their middles, momenta about joints.

Start with `mechanism.py`, a mechanism over the coordinates of particles; `momenta.py` has the equations.
"""
