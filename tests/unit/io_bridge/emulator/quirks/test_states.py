"""Quirks of states, watchdog, power and EEPROM, register by register."""

import struct

import pytest

from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.quirks.eeprom.eeprom import categories

INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8


def safeop(wire, name, watchdog_100us=None):
    slave = wire(f"direct_drive+{name}")
    assert slave.preop() == (PREOP, 0)
    slave.process_data(5, 13, watchdog_100us)
    return slave, slave.ask(SAFEOP)


def test_transitions_take_their_time_and_the_slave_stays_where_it_is(wire):
    slave = wire("direct_drive+slow_transition:preop_s=1,safeop_s=2,op_s=3")
    assert slave.preop() == (INIT, 0)
    slave.wait(990)
    assert slave.state() == (INIT, 0)
    slave.wait(10)
    assert slave.state() == (PREOP, 0)
    slave.process_data(5, 13)
    assert slave.ask(SAFEOP) == (PREOP, 0)
    # asking again does not begin again
    slave.wait(1000)
    slave.ask(SAFEOP)
    slave.wait(1000)
    assert slave.state() == (SAFEOP, 0)
    slave.outputs(bytes(5))
    slave.ask(OP)
    for _ in range(61):
        slave.wait(50)
        slave.outputs(bytes(5))
    assert slave.state() == (OP, 0)


def test_a_slow_slave_whose_master_changed_its_mind_goes_where_it_was_asked_last(wire):
    slave = wire("direct_drive+slow_transition:safeop_s=1")
    slave.preop()
    slave.process_data(5, 13)
    slave.ask(SAFEOP)
    assert slave.ask(INIT) == (INIT, 0)
    slave.wait(5000)
    assert slave.state() == (INIT, 0)


def test_a_slow_slave_looks_at_the_conditions_when_it_is_ready(wire):
    slave = wire("direct_drive+slow_transition:safeop_s=1")
    slave.preop()
    slave.ask(SAFEOP)
    slave.wait(2000)
    assert slave.state() == (PREOP | 0x10, 0x1D)


def test_a_state_is_refused_once_and_again_after_power_up(wire):
    slave, refused = safeop(wire, "refused_transition:to=safeop,code=0x0001")
    assert refused == (PREOP | 0x10, 1)
    assert slave.ask(SAFEOP) == (SAFEOP, 0)
    slave.ask(PREOP)
    assert slave.ask(SAFEOP) == (SAFEOP, 0)
    slave.segment.power_cycle(0)
    slave.access(2, 0, 0x0010, struct.pack("<H", 0x1001))
    slave.preop()
    slave.process_data(5, 13)
    assert slave.ask(SAFEOP) == (PREOP | 0x10, 1)


def test_a_state_is_refused_always(wire):
    slave = wire("direct_drive+refused_transition:to=preop,code=0x0016,times=0")
    for _ in range(5):
        assert slave.preop() == (INIT | 0x10, 0x16)


def silence_until_safeop(slave):
    """Bring it to OP, fall silent, and return after how many ms it leaves OP."""
    slave.outputs(bytes(5))
    assert slave.ask(OP) == (OP, 0)
    slave.outputs(bytes(5))
    for ms in range(1, 500):
        slave.wait(1)
        if slave.device.al_status != OP:
            assert slave.state() == (SAFEOP | 0x10, 0x1B)
            return ms
    raise AssertionError("it never left OP")


@pytest.mark.parametrize(("quirk", "ms"), [("+latched_watchdog", 100), ("", 50)])
def test_watchdog_registers_written_after_safeop_wait_where_they_are_latched(wire, quirk, ms):
    slave = wire(f"direct_drive{quirk}")
    slave.preop()
    slave.process_data(5, 13)
    assert slave.ask(SAFEOP) == (SAFEOP, 0)
    slave.watchdog(500)
    assert slave.read(0x0420, 2) == struct.pack("<H", 500)
    assert silence_until_safeop(slave) == ms


def test_a_latched_watchdog_is_that_of_the_way_to_safeop(wire):
    slave, reached = safeop(wire, "latched_watchdog", watchdog_100us=300)
    assert reached == (SAFEOP, 0)
    slave.watchdog(2000)
    assert silence_until_safeop(slave) == 30
    # from OP back to SAFEOP nothing is taken over
    slave.ask(SAFEOP)
    assert silence_until_safeop(slave) == 30
    slave.ask(PREOP)
    slave.ask(SAFEOP)
    assert silence_until_safeop(slave) == 200


@pytest.mark.parametrize(
    ("steps", "reached"),
    [(500, (SAFEOP, 0)), (501, (PREOP | 0x10, 0x1F)), (0, (PREOP | 0x10, 0x1F))],
)
def test_a_watchdog_above_the_limit_is_refused(wire, steps, reached):
    assert safeop(wire, "watchdog_limit:ms=50", steps)[1] == reached


def test_an_object_must_be_set_before_safeop(wire):
    slave, refused = safeop(wire, "needs_setup:index=0x6072,sub=0,value=1000")
    assert refused == (PREOP | 0x10, 0x0003)
    slave.download(0x6072, 0, 1000, 2)
    slave.messages()
    assert slave.ask(SAFEOP) == (SAFEOP, 0)


def test_a_terminal_that_ships_needs_its_setup(wire):
    device = make_device("setup_terminal")
    assert device.object_value(0x8000, 2) == b"\0"
    assert len(device.quirks) == 1


def test_the_eeprom_is_busy_for_its_time_and_has_the_data_then(wire):
    slave = wire("direct_drive+busy_eeprom:ms=50")
    slave.write(0x0502, struct.pack("<HI", 0x0100, 8))
    assert slave.read(0x0502, 2)[1] & 0x80
    assert slave.read(0x0508, 4) == bytes(4)
    slave.wait(49.9)
    assert slave.read(0x0502, 2)[1] & 0x80
    slave.wait(0.2)
    assert slave.read(0x0502, 2)[1] == 0
    assert slave.read(0x0508, 4) == struct.pack("<I", 0xA7E)


def test_a_drive_wakes_up_in_fault_and_needs_a_reset_edge(wire):
    slave = wire("direct_drive+fault_at_power_up:code=0x7305")
    assert slave.device.object_value(0x603F, 0) == b"\x05\x73"
    slave.operate()

    def control(word):
        slave.control(word)
        return slave.device.statusword

    assert [control(word) for word in (0x06, 0x07, 0x0F)] == [0x08] * 3
    assert control(0x80) == 0x40
    assert slave.device.object_value(0x603F, 0) == b"\0\0"
    assert [control(word) for word in (0x06, 0x07, 0x0F)] == [0x31, 0x33, 0x37]
    slave.segment.power_cycle(0)
    assert slave.device.statusword == 0x08


@pytest.mark.parametrize(
    ("options", "shown"), [("", [0, 0, 0, 10]), (":value=-3,until=never", [-3] * 4)]
)
def test_a_drive_shows_its_mode_when_it_operates_or_never(wire, options, shown):
    slave = wire(f"direct_drive+mode_shown{options}")
    slave.operate()

    def control(word):
        slave.control(word)
        slave.wait(1)
        return struct.unpack("<12xb", slave.read(0x1800, 13))[0]

    assert [control(word) for word in (0, 0x06, 0x07, 0x0F)] == shown


def test_a_slow_slave_is_silent_after_a_loss_of_power_only(wire):
    slave = wire("direct_drive+slow_boot:s=2")
    assert slave.preop() == (PREOP, 0)
    slave.segment.power_cycle(0)

    def answers():
        return slave.access(7, 0, 0x0000, bytes(1))[1]

    assert answers() == 0
    slave.wait(1990)
    assert answers() == 0
    slave.wait(10)
    assert answers() == 1
    assert slave.device.al_status == INIT


def read_eeprom(slave, word):
    slave.write(0x0502, struct.pack("<HI", 0x0100, word))
    return slave.read(0x0508, 4)


def test_an_eeprom_may_have_its_mandatory_part_only(wire):
    slave = wire("direct_drive+eeprom_mandatory")
    assert [kind for kind, _, _ in categories(slave.device.eeprom)] == [30, 40, 41]
    assert slave.preop() == (PREOP, 0)
    slave = wire("direct_drive+eeprom_mandatory:categories=no")
    assert read_eeprom(slave, 8) == struct.pack("<I", 0xA7E)
    assert read_eeprom(slave, 0x40) == b"\xff" * 4
    assert slave.preop() == (PREOP, 0)


@pytest.mark.parametrize("byte", [0xFF, 0x00])
def test_a_blank_eeprom_says_nothing_and_the_slave_has_its_mailbox(wire, byte):
    slave = wire(f"direct_drive+eeprom_blank:byte={byte}")
    assert {read_eeprom(slave, word) for word in range(0, 0x400, 2)} == {bytes([byte]) * 4}
    assert slave.preop() == (PREOP, 0)
    slave.upload(0x1018, 1)
    assert slave.messages()[0][12:14] == b"\x7e\x0a"


def test_the_eeproms_sync_managers_may_be_off(wire):
    image = wire("direct_drive+eeprom_managers_off").device.eeprom
    ((start, end),) = ((start, end) for kind, start, end in categories(image) if kind == 41)
    assert [image[at + 6] for at in range(start, end, 8)] == [0] * 4
    plain = make_device("direct_drive").eeprom
    assert [plain[at + 6] for at in range(start, end, 8)] == [1] * 4


def test_an_eeprom_may_have_an_impossible_mailbox(wire):
    image = wire("direct_drive+eeprom_mailbox:bytes=4").device.eeprom
    assert struct.unpack_from("<HHHH", image, 0x30) == (0x1000, 4, 0x1100, 4)


@pytest.mark.parametrize("which", ["mapping", "assignment", "both"])
def test_mapping_and_assignment_may_be_read_only(wire, which):
    slave = wire(f"direct_drive+fixed_mapping:which={which}")
    slave.preop()
    codes = []
    for index in (0x1600, 0x1A00, 0x1C12, 0x1C13):
        slave.download(index, 0, 0, 1)
        (answer,) = slave.messages()
        codes.append(int.from_bytes(answer[12:16], "little") if answer[8] == 0x80 else 0)
    read_only = 0x06010002
    mapping, assigning = (
        read_only * (which in ("both", kind)) for kind in ("mapping", "assignment")
    )
    assert codes == [mapping] * 2 + [assigning] * 2
