"""The blocks that ship: a declaration and a C source each, in drawers by what they do.

Nothing here is Python. Start with `arithmetic/gain.toml`; copy two files to begin a block of your own, see
`docs/own_blocks.md`.
"""
