"""What foreign slaves do that ours do not: one idea a module, put onto any emulated device, several of them
one over the other.

A module of this folder is found by its place (`catalogue.py`): it has one subclass of `Quirk`, whose name among
users is the module's, with its `OPTIONS` and a docstring that says which slaves are like that.
"""
