"""The observers by published name, one module each: three functions, and a class that says the name.

`estimators.closed_loop.catalogue` finds them by their place. Start with `dekf.pyx`, the smallest.
"""
