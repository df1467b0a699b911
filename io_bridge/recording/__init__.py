"""Processes that look at a running signal table: the recorder, which keeps each cycle, and telemetry.

Start with `recorder.py`; `record.py` is the file that it writes.
"""
