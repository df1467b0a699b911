"""Expressions in a hash-consed graph: derivatives, factorisation, and printing as straight lines."""
