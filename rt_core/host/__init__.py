"""The machine below the loop: facts about it, rights of this process, and how long to spin.

Start with `rights.py`.
"""
