"""The blocks that ship: a declaration and a C source each, in drawers by what they do.

Nothing here is Python. Copy two files of it to begin a block of your own: `docs/own_blocks.md`.
"""
