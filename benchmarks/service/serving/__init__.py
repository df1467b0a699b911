"""Parts of the programs beside it: a service that is started for them, its changes, soak and restarts, and figures.

Start with `served.py`.
"""
