"""The scope: cycles around a trigger, of a run that goes on, a recorded one or a stored capture.

Start with `scope.py`; `sources.py` says where cycles come from, `trigger.py` what is waited for.
"""
