"""Quirks of the EEPROM: busy, blank, or without some of its categories.

Start with `eeprom.py`, on which the others lie.
"""
