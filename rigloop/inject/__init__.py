"""Faults on purpose in a live run: which there are, where they act, and whether the rig met them as it states."""
