"""`rigloop log`: intake of logs that nobody has described.

Start with `check.py`; `view.py` shows what it found, `verdict.py` says whether a log is good enough.
"""
