"""The mechanism in numbers at the pose of its file: assembly, redundant rows, penalties.

Start with `assembly.py`.
"""
