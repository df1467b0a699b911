"""Emulated terminals: digital, analogue and encoder channels, and the shafts that they are attached to.

Start with `digital_io.pyx`.
"""
