"""The programs that `benchmarks/kernels.py` measures: one file a program, each a function that makes rows.

A row is one program doing one piece of work. `rows(...)` of a program that is not installed raises
ImportError, and the table says how to install it.
"""
