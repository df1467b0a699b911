"""`rigloop soak`: a long run that is watched from outside, and a verdict on what only shows with time.

A run as `rigloop run` does it (`command.py`), beside it a thread that samples all its processes and its table
(`watch.py`, `processes.py`), then figures against limits (`judge.py`) and a page (`page.py`).

Start with `command.py`.
"""
