"""`rigloop export`: a run folder in the format of another program.

Start with `measured_run.py`.
"""
