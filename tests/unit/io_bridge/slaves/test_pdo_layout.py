import struct

import pytest

from io_bridge.slaves.pdo_layout import (
    BitwiseError,
    SlaveLayout,
    fmmu_rows,
    from_fmmus,
    mapped_bytes,
    process_managers,
    watchdog_registers,
)


def fmmu(start, size, physical, kind, first=0, active=1):
    return struct.pack("<IHBBHBBBxxx", start, size, first, 7, physical, 0, kind, active)


OUTPUTS, INPUTS = fmmu(0x100, 5, 0x1200, 2), fmmu(0x200, 17, 0x1800, 1)


def test_the_layout_is_that_of_the_active_fmmus():
    status = fmmu(0x300, 1, 0x080D, 1)
    unused = fmmu(0x400, 9, 0x1900, 1, active=0)
    assert from_fmmus(0x1001, OUTPUTS + INPUTS + status + unused) == SlaveLayout(
        0x1001, 0x100, 5, 0x200, 17
    )


def test_a_layout_in_pieces_or_bits_is_refused():
    with pytest.raises(ValueError, match="several pieces"):
        from_fmmus(0x1001, OUTPUTS + OUTPUTS)
    with pytest.raises(ValueError, match="an FMMU maps bits"):
        from_fmmus(0x1001, OUTPUTS + fmmu(0, 1, 0x1800, 1, first=3))


def test_pieces_that_follow_each_other_are_one_layout_whichever_fmmu_has_them():
    layout = SlaveLayout(0x1001, 0x40, 5, 0x45, 2)
    rows = fmmu_rows(layout, [(0x0F00, 1), (0x0F01, 4)], [(0x1800, 2)])
    turned = rows[16:32] + rows[:16] + rows[32:]
    assert from_fmmus(0x1001, rows) == from_fmmus(0x1001, turned) == layout
    assert mapped_bytes(rows) == mapped_bytes(turned)
    assert mapped_bytes(rows) == {2: [0x0F00, 0x0F01, 0x0F02, 0x0F03, 0x0F04], 1: [0x1800, 0x1801]}
    other = fmmu_rows(layout, [(0x0F01, 4), (0x0F00, 1)], [(0x1800, 2)])
    assert mapped_bytes(other) != mapped_bytes(rows)


def test_the_watchdog_counts_in_tenths_of_milliseconds():
    assert dict(watchdog_registers(20.0)) == {0x0400: 2498, 0x0420: 200}


def test_process_data_are_told_from_mailboxes_by_the_sync_managers():
    rows = [
        (0x1000, 128, 0x26, 0, 1, 0),
        (0x1100, 128, 0x22, 0, 1, 0),
        (0x1200, 5, 0x64, 0, 1, 0),
        (0x1800, 17, 0x20, 0, 1, 0),
    ]
    registers = b"".join(struct.pack("<HHBBBB", *row) for row in rows)
    assert process_managers(registers) == ([(0x1200, 5)], [(0x1800, 17)])
    # a terminal without mailbox, with inputs alone, and one manager that is off
    off = struct.pack("<HHBBBB", 0x1000, 1, 0x00, 0, 1, 0) + bytes(8)
    assert process_managers(off) == ([], [(0x1000, 1)])


def test_what_is_mapped_byte_by_byte_is_read_back_as_it_was_laid_out():
    layout = SlaveLayout(0x1001, 0x40, 5, 0x45, 17)
    rows = fmmu_rows(layout, [(0x1200, 5)], [(0x1800, 17)])
    assert from_fmmus(0x1001, rows) == layout
    bits = bytearray(rows)
    bits[6] = 3
    with pytest.raises(BitwiseError, match="an FMMU maps bits"):
        from_fmmus(0x1001, bytes(bits))
