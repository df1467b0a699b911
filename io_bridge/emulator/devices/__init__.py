"""Bases of every emulated device: one with a slave controller, and one that is described by objects and PDOs.

Start with `slave_device.pyx`.
"""
