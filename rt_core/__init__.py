"""Time, order and safety of one cycle. Knows no mechanism, protocol or filter: it calls blocks.

Start with `block.py`, the contract that all of it calls, and `loop/`, which calls it.
"""
