"""Kinds of blocks: what a rig may be made of. One entry of `kinds/` says all that there is to know of a kind.

Start with `kind.py`, which has the record, and `kinds/relay.py`, the smallest kind; `catalogue.py` finds them.

How to add a kind
-----------------
Write `rigloop/blocks/kinds/<name>.py` with a `KIND`; compiled parts (`.pyx`, `.pyi`) lie beside it. The rig file's
schema, wiring, checks of units, composition, words of faults and a section of `docs/rig.md` follow from it.
"""
