"""Observers, as blocks. The same compiled code runs live and in replay."""
