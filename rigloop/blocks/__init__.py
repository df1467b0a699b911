"""Kinds of blocks: what may stand in `[blocks]` of a rig."""
