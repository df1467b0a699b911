"""The rig as a viewer reads it: cycles, state in words, and the pose of its mechanism, of a service, a run or a record.

Begin with `source.py`.
"""
