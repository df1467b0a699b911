"""`rigloop tune`: gains of an encoder filter from resolution and bandwidth, or from a log.

Start with `tune.py`.
"""
