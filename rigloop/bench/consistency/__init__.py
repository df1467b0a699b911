"""`rigloop bench consistency`: NEES and NIS of every filter on plants that match its model.

Start with `consistency.py`.
"""
