"""The page on a terminal: `rigloop monitor --tui`, for whoever comes over ssh. Only `screen.py` imports Textual.

Begin with `looker.py` (the rig, without a screen), then `screen.py`.
"""
