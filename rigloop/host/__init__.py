"""The machine's part of a run: interfaces, cores, spins, room on the disk, child processes.

Start with `interface.py`.
"""
