"""The kinds of bus: on a network interface, emulated in this process, and none.

Start with `ethercat_bus.py`.
"""
