"""The haptic loop of a rig: encoder, filter, model, guard, drive, wheel; its margin and its impedance.

Start with `loop.py`, the loop of a rig; `margin.py` says how far it is from singing, `check.py` says it in words.
"""
