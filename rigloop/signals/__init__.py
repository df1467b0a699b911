"""Which signals a rig has: `rigloop signals RIG`.

Start with `listing.py`, which finds them; `command.py` shows them.
"""
