"""`rigloop bench observers`: the published comparison of state observers.

Start with `observers.py`.
"""
