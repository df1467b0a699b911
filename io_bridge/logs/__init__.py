"""Logged encoder data of others: read, checked for faults, and put onto the ticks of a task.

Start with `reader.py`.
"""
