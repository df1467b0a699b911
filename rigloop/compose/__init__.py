"""From a rig file to blocks, kernels, bus and plan.

Start with `blocks.py`; `wiring.py` has what is checked before.
"""
