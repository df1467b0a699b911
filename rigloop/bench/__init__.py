"""Published tests of a whole rig, as commands: `rigloop bench ...`; one module or more for each.

Start with `commands.py`; each folder is one benchmark.
"""
