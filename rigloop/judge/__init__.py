"""The verdict on a live run: what its signals, counters and processes say against it.

Start with `verdict.py`.
"""
