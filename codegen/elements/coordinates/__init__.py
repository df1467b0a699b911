"""Elements that are coordinates: points, unit vectors, angles and distances, and the rows that define them.

Start with `point.py`.
"""
