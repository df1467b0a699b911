"""Quirks of the mailbox: late, stale, repeated or wrong replies, emergencies, missing complete access."""
