"""Options of a kernel: formulation, integrator, step, tolerances and compiler flags.

Start with `options.py`; `option_text.py` reads them from a command line or a rig.
"""
