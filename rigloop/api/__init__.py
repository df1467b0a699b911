"""The Python interface: mechanisms and observers offline, runs as arrays, and rigs that a program starts.

`rigloop/__init__.py` exports it and imports each part only when it is asked for. Begin with `mechanism.py`.
"""
