"""`rigloop doctor`: the checks of host, bus and software, and how they are shown.

Start with `checks.py`.
"""
