"""The files of a run: manifest, records, late cycles, last state, and messages between its processes.

Start with `manifest.py`.
"""
