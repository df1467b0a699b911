"""`rigloop commission`: a walk through a real drive at a twentieth of its torque, one question a step.

Start with `walk.py`. A step is a module of `steps/`; `stand.py` says what it may do with the drive, and always through
a guard: `stepped_stand.py` in simulated time, `live_stand.py` on a network interface. How to add a step: write a module
with a `STEP` into `steps/`; it is found by its place.
"""
