"""Emulated devices: the description of each (a TOML file), and its behaviour (a module)."""
