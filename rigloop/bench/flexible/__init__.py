"""`rigloop bench flexible`: the published test of six unknown forces on a vehicle body that bends.

Start with `flexible.py`.
"""
