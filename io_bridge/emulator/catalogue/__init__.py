"""Emulated devices: the description of each (a TOML file), and its behaviour (a module).

Start with `devices.py`, which finds a device by its name; `device_file.py` has the schema of a description.
"""
