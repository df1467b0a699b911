"""Faults on purpose in a live run: which there are, where they act, and whether the rig met them as it states.

Start with `faults.py`, the table of all; `place.py` puts one into a task, `agent.py` acts outside, `judge.py`
judges.
"""
