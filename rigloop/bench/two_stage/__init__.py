"""`rigloop bench two-stage`: the published tests of the two-stage observer on a slider-crank.

Start with `two_stage.py`.
"""
