"""Everything that crosses the boundary of the process: buses, emulated slaves, recorder, logs.

Start with `bus.py`, which is the bus as the application sees it; `buses` has its three kinds, `master` brings
slaves up, `exchange` runs in the cycle, `emulator` answers in place of hardware.
"""
