"""Frames and the sockets that carry them; who else uses the wire.

Start with `frame.pyx`.
"""
