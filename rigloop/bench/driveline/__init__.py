"""`rigloop bench driveline`: the published test of the A-UKF that finds the load of a motor behind a cardan shaft.

Start with `driveline.py`.
"""
