"""Elements that are forces: springs, dampers, friction, motors, tyres, and forces that a user writes.

Start with `damper.py`.
"""
