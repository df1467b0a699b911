"""An emulated segment as a process of its own, on the other end of a veth pair or of a real cable.

Start with `sim_segment.py`.
"""
