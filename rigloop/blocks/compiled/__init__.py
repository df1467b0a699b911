"""Blocks that are a declaration and a source in C or Cython: those of the library, and a user's own by the same way.

`declaration.py` reads one, `header.py` prints the C around it, `build.py` compiles and loads it, `kind.py` is
what the rest of the program sees. Start with `docs/own_blocks.md`.
"""
