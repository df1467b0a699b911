"""`rigloop model ...`: show, check, generate and import mechanisms.

Start with `commands.py`; a `*_view.py` shows what the module of that name found.
"""
