"""The signature of a person under a rig: the file beside it, and the torque that a rig has without it.

Start with `signed_file.py`; `limit.py` says when a torque is limited. `rigloop commission` writes the file.
"""
