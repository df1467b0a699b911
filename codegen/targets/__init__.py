"""One file per target language: `text(program)` prints a `codegen.equations.program.Program`.

Start with `kernel_text.py`; the `.in` files are the texts that it fills.
"""
