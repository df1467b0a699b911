"""Expressions in a hash-consed graph: derivatives, factorisation, and printing as straight lines.

Start with `dag.py`, the graph, and `emit.py`, which prints it.
"""
