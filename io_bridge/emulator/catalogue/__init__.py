"""Emulated devices: what each one says it is (a TOML file), and how it behaves (a module)."""
