"""The ordinary thread beside a running cycle: recovery, emergencies, SDOs for other processes, scans.

Start with `attendant.py`.
"""
