"""The cycle's exchange with the bus: commands out, frames, sensors in. All of it runs in the cycle.

Start with `exchange.pyx` (set-up) and `cycle.pyx` (one cycle); `drive_io`, `slave_io`, `terminal_io` are its parts.
"""
