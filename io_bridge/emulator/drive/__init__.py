"""Emulated CiA 402 drives with one axis or several, and the motor, wheel and hands that they turn.

Start with `device.pyx`.
"""
