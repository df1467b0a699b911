"""The signal table in shared memory: where everything lies, and how it is read.

Start with `table.pyx`.
"""
