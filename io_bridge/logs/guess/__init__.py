"""Guesses of what the columns of an unknown log are; each says how sure it is and why.

Start with `guess.py`; `names.py` has the words that loggers use.
"""
