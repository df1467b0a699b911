"""The EtherCAT slave controller: its memory and registers, AL states, addresses and distributed clock.

Start with `registers.pyx`.
"""
