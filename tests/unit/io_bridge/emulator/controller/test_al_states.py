import struct
from dataclasses import replace

import pytest
from al_states import await_now

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.drive.objects import drive_description
from io_bridge.master.bringup import BringUpError, to_safeop
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DriveConfig, DrivePlant

INIT, PREOP, BOOT, SAFEOP, OP = 1, 2, 3, 4, 8
STATION = 0x1001


@pytest.fixture
def master(segment_master):
    master = segment_master(DriveDevice())
    master.address(0)
    return master


def ask(master, state, acknowledge=True):
    master.write(STATION, 0x0120, struct.pack("<H", state | 0x10 * acknowledge))
    return master.state(STATION)


@pytest.mark.parametrize(
    ("state", "code"),
    [(SAFEOP, 0x11), (OP, 0x11), (BOOT, 0x13), (5, 0x12), (0, 0x12), (PREOP, 0x16)],
)
def test_a_refused_request_leaves_init_with_its_code(master, state, code):
    assert ask(master, state) == (INIT | 0x10, code)


def test_preop_needs_the_mailbox_the_eeprom_describes(master):
    master.set_mailbox(STATION)
    master.write(STATION, 0x0802, struct.pack("<H", 64))
    assert ask(master, PREOP) == (INIT | 0x10, 0x16)
    master.set_mailbox(STATION)
    assert ask(master, PREOP) == (PREOP, 0)


def test_an_error_stands_until_acknowledged_but_init_is_always_open(master):
    master.set_mailbox(STATION)
    ask(master, OP)
    assert ask(master, PREOP, acknowledge=False) == (INIT | 0x10, 0x11)
    assert ask(master, INIT, acknowledge=False) == (INIT, 0)
    ask(master, OP)
    assert ask(master, PREOP) == (PREOP, 0)


@pytest.mark.parametrize(("manager", "code"), [(2, 0x1D), (3, 0x1E)])
def test_safeop_needs_sync_managers_of_the_mapped_size(master, manager, code):
    to_safeop(master, [DriveConfig()])
    ask(master, PREOP)
    size = int.from_bytes(master.read(STATION, 0x0802 + 8 * manager, 2), "little")
    master.write(STATION, 0x0802 + 8 * manager, struct.pack("<H", size + 1))
    assert ask(master, SAFEOP) == (PREOP | 0x10, code)
    master.write(STATION, 0x0802 + 8 * manager, struct.pack("<H", size))
    assert ask(master, SAFEOP) == (SAFEOP, 0)


def test_op_waits_for_the_first_outputs(master):
    layout = to_safeop(master, [DriveConfig()])[0]
    assert ask(master, OP) == (SAFEOP, 0)
    master.access(11, layout.outputs_at, 0, bytes(layout.n_outputs))
    assert master.state(STATION) == (OP, 0)


def test_stepping_down_is_always_allowed(master):
    layout = to_safeop(master, [DriveConfig()])[0]
    master.access(11, layout.outputs_at, 0, bytes(layout.n_outputs))
    for state in (OP, SAFEOP, OP, PREOP, SAFEOP, INIT):
        assert ask(master, state) == (state, 0)


def test_bring_up_names_slave_state_and_code_of_a_refusal(master):
    master.request(STATION, OP)
    with pytest.raises(BringUpError, match=r"slave 0: OP asked, it is in INIT\+ERROR, 0x0011 inv"):
        await_now(master, STATION, OP)


def test_the_name_in_an_eeprom_stays_in_its_line(segment_master):
    plant = DrivePlant()
    hostile = replace(
        drive_description(plant, SIMULATED_IDENTITY), name="a drive\n[blocks.bus]\x1b[31m"
    )
    master = segment_master(DriveDevice(plant, SIMULATED_IDENTITY, hostile))
    with pytest.raises(BringUpError, match="those are: a drive") as caught:
        to_safeop(master, [DriveConfig("a"), DriveConfig("b")])
    assert str(caught.value).isprintable()


def test_bring_up_names_missing_slaves(master):
    with pytest.raises(BringUpError, match="1 slaves answer, the rig has 2"):
        to_safeop(master, [DriveConfig("a"), DriveConfig("b")])
