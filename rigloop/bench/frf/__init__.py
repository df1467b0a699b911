"""`rigloop bench frf`: torque path and haptic impedance over frequency, measured beside predicted.

Start with `frf.py`.
"""
