"""Questions about a mechanism that need no kernel of its own: equilibrium, poles and modes, advice on options.

Start with `linear_mechanism.py` for a mechanism near an equilibrium, with `linearise.py` for one step of a kernel.
"""
