"""Slaves as a rig declares them and as their makers describe them: configuration, EEPROM, time limits, words.

Start with `drive_config.py`.
"""
