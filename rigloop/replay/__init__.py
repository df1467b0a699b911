"""`rigloop replay`: the same blocks without a clock, from a log or from a recorded run, and its verdict.

Start with `replay.py`.
"""
