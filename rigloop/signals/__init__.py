"""The signals of a rig: `rigloop signals RIG`.

Start with `listing.py`, which finds them; `command.py` shows them.
"""
