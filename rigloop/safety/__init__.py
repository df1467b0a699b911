"""`rigloop safety`: the hazards of a rig, the limits that answer them, and its reaction times, stated and measured.

Start with `answers.py`, what an axis does about a fault; `traced.py` follows keys to hazards, `measure.py` injects.
"""
