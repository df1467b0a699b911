"""A live run: supervisor, cycle process, arming, the live view, and the look-out for whatever fails.

Start with `supervise.py`; `cycle.py` is the process that runs the loop.
"""
