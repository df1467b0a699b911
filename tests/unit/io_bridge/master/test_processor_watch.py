"""A slave whose processor has stopped behind its controller, said in words."""

import struct

import pytest

from io_bridge.attendant.watch import Watch
from io_bridge.bus_events import BusEvents
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.master.emergency import EmergencyLog
from io_bridge.master.mailbox import Areas, Mailbox, MailboxError, Postage
from io_bridge.master.master import BringUpError
from io_bridge.master.processor_watch import is_silent, questions
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.state_limits import StateLimits

STATION = 0x1001
QUICK = StateLimits(safeop_op_s=0.5, mailbox_response_s=0.3)
DEAD = r"processor no longer serves .*0x0443.*switch it off and on"


def bus_of(quirk):
    return SimulatedBus(
        drives=[DriveConfig(limits=QUICK)], devices=[make_device(f"direct_drive{quirk}")]
    )


def answers(status=0x0000, kind=0x05, watchdog=1000, expired=1, wkc=1):
    data = struct.pack("<H", status), bytes([kind]), struct.pack("<H", watchdog), bytes([expired])
    return [(part, wkc) for part in data]


def test_only_a_processor_that_was_watched_and_is_not_heard_is_silent():
    assert is_silent(answers(expired=3)) == 3
    assert not is_silent(answers(status=0x0002))
    assert not is_silent(answers(kind=0x04))
    assert not is_silent(answers(watchdog=0))
    assert not is_silent(answers(expired=0))
    assert not is_silent(answers(wkc=0))


@pytest.mark.parametrize("at", ["preop", "safeop"])
def test_a_bring_up_that_meets_a_dead_processor_says_so(at):
    with pytest.raises(BringUpError, match=rf"slave 0 \(drive\): .*{DEAD}"):
        bus_of(f"+dead_processor:at={at}").to_op()


def test_a_healthy_slave_that_is_slow_is_not_accused():
    with pytest.raises(BringUpError, match="SAFEOP asked") as caught:
        bus_of("+slow_transition:safeop_s=2").to_op()
    assert "processor" not in str(caught.value)


def test_a_processor_that_stops_in_op_is_a_warning_which_no_counter_shows():
    bus = bus_of("+dead_processor:at=op,ms=50")
    bus.to_op()
    block = bus.block()
    events = BusEvents()
    recovery = bus.recovery()
    watch = Watch(recovery.master, block, bus._records, events, 0.0)
    watch.look()
    assert list(events) == []
    for n in range(400):
        block.step(n * 1_000_000)
    # the controller goes on, and so do state, counters and clock
    assert block.slave_status(0)[0] == 8
    watch.look()
    watch.look()
    (event,) = events
    assert event.warns
    assert event.source == "drive"
    assert "processor no longer serves" in event.words
    assert len(recovery.master.exchange(questions(STATION))) == 4


def test_a_mailbox_that_takes_no_message_is_told_with_its_time_and_what_to_do():
    limits = StateLimits(mailbox_request_s=0.02, mailbox_response_s=0.1)
    full = Mailbox(
        Postage(lambda command, station, register, data: (data, 0), EmergencyLog()),
        STATION,
        Areas(0x1000, 128, 0x1100, 128),
        limits=limits,
    )
    said = r"slave 0x1001: .* stays full for 0.12 s.*mailbox_request_s = .*switch it off and on"
    with pytest.raises(MailboxError, match=said):
        full.ask(b"", lambda message: True)


def test_a_processor_that_died_with_a_request_in_its_mailbox_is_told_with_the_slave():
    bus = bus_of("+dead_processor:at=op")
    bus.to_op()
    block = bus.block()
    for n in range(300):
        block.step(n * 1_000_000)
    master = bus.recovery().master
    with pytest.raises(BringUpError, match=r"slave 0 \(drive\): .*within 0.3 s.*" + DEAD):
        master.upload(STATION, 0x1000, 0)
    # the first request was not answered either
    with pytest.raises(BringUpError, match=r"slave 0 \(drive\): .*" + DEAD):
        master.upload(STATION, 0x1000, 0)
