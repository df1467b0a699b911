"""The door for Foxglove and Lichtblick: every cycle of the signals that they subscribe to, events, the mechanism.

Begin with `channels.py` (names and schemas), then `viewer.py` (one viewer), then `door.py` (its websocket).
"""
