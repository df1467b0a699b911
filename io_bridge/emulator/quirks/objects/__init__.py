"""Quirks of objects and process data: fixed mappings, several sync managers, devices that need a setup.

Start with `fixed_mapping.pyx`.
"""
