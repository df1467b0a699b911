"""Observers, as blocks. The same compiled code runs live and in replay.

Start with `encoder/`, the filter of the steering rig; the others are in docs/models/observers.md.
"""
