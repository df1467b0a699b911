"""Deviations of foreign slaves from ours: one idea a module, put onto any emulated device; several can be
stacked.

A module of this folder is found by its place (`catalogue.py`): it has one subclass of `Quirk`, whose name among
users is the module's, with its `OPTIONS` and a docstring that says which slaves are like that.

Start with `quirk.pyx`, the base of all.
"""
