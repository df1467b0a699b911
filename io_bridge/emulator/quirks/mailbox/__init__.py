"""Quirks of the mailbox: late, stale, repeated or wrong replies, emergencies, missing complete access.

Start with `mailbox_layer.pyx`, on which the others lie.
"""
