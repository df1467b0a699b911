"""The transfer matrix method: states of joints in the axes of the ground, Riccati's way through chains and branches.

Start with `riccati.py`, the algebra of one link; `network.py` has chains and bodies with several inputs, and
`equation.py` the overall transfer equation, from the graph alone.
"""
