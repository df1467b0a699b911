"""The master's bring-up of slaves: addresses, EEPROM, mailbox, states, mapping, clocks.

Start with `bringup.py`, which says the order; `master.py` sends single datagrams.
"""
