"""The schema of a rig, and the rigs, mechanisms and log mappings that ship.

Start with `schema.py` and `load.py`; `wiring.py` has what ports must keep, `units.py` their units. The kinds of blocks
bring their own tables from `rigloop/blocks`.
"""
