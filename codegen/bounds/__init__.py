"""The longest time that a step can take: counts of the generator times costs that are measured on this machine.

Start with `step_bound.py`; `machine.py` measures the costs by the loops of `machine.c.in`, and `text_bound.py` goes the
longest way through a kernel's text.
"""
