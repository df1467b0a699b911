"""Logs with planted faults, made from seeds: motions of recorded logs and others, many encoders, clocks and files.

Start with `planted.py`; `benchmarks/logs/log_intake.py` scores `rigloop log check` with them.
"""
