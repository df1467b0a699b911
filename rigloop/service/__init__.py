"""The service of `rigloop serve`: it starts runs, lets programs look at them, and one of them at a time control each.

Start with `process.py`, its loop; `commands.py` does what a request says, `sessions.py` is a rig with its runs.
"""
