"""Elements that are constraints: joints between bodies, gears, points on lines and planes, guides.

Start with `revolute.py`; `perpendicular.py` is the smallest one.
"""
