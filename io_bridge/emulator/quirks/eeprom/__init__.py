"""Quirks of the EEPROM: busy, blank, or without some of its categories."""
