"""`rigloop scan`, `rigloop sdo`, `rigloop bus`: what is on the wire, its objects, and how a run's bus did.

Start with `commands.py`.
"""
