"""`rigloop sweep`: many replays of logs or runs with keys of the rig changed, summed up in one table.

Start with `sweep.py`.
"""
