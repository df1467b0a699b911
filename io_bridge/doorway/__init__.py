"""Requests of other programs over ZeroMQ: a local socket for its owner only, TCP with CURVE keys, and both ends of it.

Start with `door.py`; what is said through it is `rigloop/protocol`.
"""
