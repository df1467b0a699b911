"""The encoder filter: counts to angle, rate and acceleration; its gains, response, tuning and smoother.

Start with `filter.pyx`; `cycle.pyx` is what runs in a cycle.
"""
