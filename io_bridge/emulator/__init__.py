"""Emulated EtherCAT segments: a frame passes slaves as it does on a wire.

Start with `segment.pyx`; `controller` is the chip of a slave, `coe` its mailbox, `drive` and `terminals` what it does.
"""
