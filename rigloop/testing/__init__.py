"""Tests that drive a rig: a pytest plugin with the fixture `rig`, and assertions on responses over time.

Start with `plugin.py`; `docs/python.md` has a complete test.
"""
