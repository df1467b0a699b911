"""The cycle over two lines. Its sockets are pairs of local ones, so that no rights are needed; the test is the
wire and the slaves: it decides which half comes back, and when."""

import random
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from io_bridge.bus import list_faults
from io_bridge.buses.simulated_bus import simulated_drive
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.exchange.exchange import Exchange
from io_bridge.master.bringup import prepare
from io_bridge.master.master import Master
from io_bridge.master.slave_clock import reference
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.wire.frame import parse
from io_bridge.wire.redundant_socket import RedundantSocket, open_lines

MS = 1_000_000
FIRST, SECOND = 0, 1
N = 3
FPRD, FRMW = 4, 14
LONG_US = 1e6
HUNG_S = 0.9  # a cycle that waits for a half that does not come waits longer
NONE = {"lost": 0, "late": 0, "duplicated": 0, "foreign": 0}


class Ring:
    """Drives in OP between two lines."""

    def __init__(self, cells, budget_us, n):
        near, far = zip(
            *(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in "ab"), strict=True
        )
        for end in (*near, *far):
            end.settimeout(5.0)
        self.near, self.far = near, list(far)
        self.segment = Segment([DriveDevice(DrivePlant(hands="free")) for _ in range(n)])
        self.block = Exchange(
            [simulated_drive(DrivePlant(), i, n) for i in range(n)],
            budget_us=budget_us,
            bad_limit=1000,
        )
        self.cells = cells(self.block)
        self.held = []
        self.sent = []
        self.k = 0
        self.thread = ThreadPoolExecutor(1)
        master = Master(lambda frame: self.segment.process(frame, self.segment.now_ns + 1000))
        records = prepare(master, self.block.slaves)
        self.link = RedundantSocket(*near)
        self.block.configure(
            self.link, [r.layout for r in records], n_slaves=n, clock_station=reference(records)
        )
        self.step()
        for record in records:
            master.request(record.layout.station, 8)
        self.step()
        self.block.in_service = True
        for i in range(n):
            self.cells[f"drive{i}/enable"] = 1
            self.cells[f"drive{i}/torque_nm"] = 1.0
        for _ in range(8):
            self.step()
        assert self.torques == pytest.approx([1.0] * n, abs=0.01)

    @property
    def torques(self):
        return [device.wanted_torque_nm for device in self.segment.devices]

    @property
    def ring(self):
        return tuple(self.cells[f"ring_{what}"] for what in ("open", "near", "breaks"))

    def step(self, order=(FIRST, SECOND), lose=(), hold=(), dead=(), noise=None):
        """One cycle; the halves, named by the line on which they left, come back in this order, after
        `noise` of what left."""
        done = self.thread.submit(self.block.step, self.k * MS)
        self.k += 1
        n = self.block.n_frames
        self.sent = [
            [] if end in dead else [self.far[end].recv(2048) for _ in range(n)]
            for end in (FIRST, SECOND)
        ]
        t_ns = self.segment.now_ns + MS
        for end in (FIRST, SECOND) if noise else ():
            self.far[end].send(noise(self.sent[1 - end][0]))
            self.far[end].send(noise(self.sent[end][0]))
        for end, frame in [(line, frame) for line in order for frame in self.sent[line]]:
            reply, leaves = self.segment.process_end(frame, t_ns, end)
            t_ns += 1000
            if reply is None or end in lose or leaves in dead:
                continue
            if end in hold:
                self.held.append((leaves, reply))
            else:
                self.far[leaves].send(reply)
        return done.result(HUNG_S if self.block_is_patient else 10.0)

    block_is_patient = False

    def release(self):
        """Bring what was held."""
        for leaves, reply in self.held:
            self.far[leaves].send(reply)
        self.held.clear()

    def counters(self):
        return {key: self.block.counters[key] for key in NONE}

    def close(self):
        self.thread.shutdown()
        self.link.close()
        for end in self.far:
            end.close()


@pytest.fixture
def make_ring(cells):
    made = []

    def make(budget_us=50_000.0, n=N):
        made.append(Ring(cells, budget_us, n))
        return made[-1]

    yield make
    for ring in made:
        ring.close()


@pytest.fixture
def ring(make_ring):
    return make_ring()


@pytest.fixture
def patient_ring(make_ring):
    """Waits for a second: a cycle that ends before has not waited."""
    ring = make_ring(LONG_US)
    ring.block_is_patient = True
    return ring


ORDERS = [(FIRST, SECOND), (SECOND, FIRST)]


@pytest.mark.parametrize("order", ORDERS)
def test_a_closed_ring_is_one_exchange_and_its_copies_are_not_counted(ring, order):
    for _ in range(5):
        assert ring.step(order) == 0
        assert ring.cells["valid"] == 1
        assert ring.cells["wkc"] == ring.cells["wkc_expected"]
    assert ring.counters() == NONE
    assert ring.ring == (0, 0, 0)
    assert ring.block.gap is None


def test_in_a_closed_ring_nobody_waits_for_the_copy(patient_ring):
    for _ in range(6):
        patient_ring.step(hold=[SECOND])
        assert patient_ring.cells["valid"] == 1
        patient_ring.release()
    assert patient_ring.counters() == NONE


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("cable", range(N + 1))
def test_no_cycle_is_bad_when_a_cable_is_out_and_when_it_is_put_back(ring, cable, order):
    ring.segment.unplug(cable)
    for _ in range(10):
        assert ring.step(order) == 0
        assert ring.cells["valid"] == 1
        assert ring.cells["wkc"] == ring.cells["wkc_expected"]
    assert ring.ring == (1, cable, 1)
    assert ring.torques == pytest.approx([1.0] * N, abs=0.01)
    places = ["the first interface", "drive0", "drive1", "drive2", "the second interface"]
    assert [fault.words for fault in list_faults(ring.block)] == [
        f"the ring is open between {places[cable]} and {places[cable + 1]}: cable or power"
    ]
    ring.segment.plug(cable)
    for _ in range(10):
        assert ring.step(order) == 0
        assert ring.cells["valid"] == 1
    assert ring.ring[0] == 0
    assert ring.ring[2] == 1
    assert list_faults(ring.block) == []
    assert ring.counters() == NONE


@pytest.mark.parametrize("order", ORDERS)
def test_every_frame_of_a_cycle_is_made_of_its_own_halves(make_ring, order):
    n = 16
    ring = make_ring(n=n)
    assert ring.block.n_frames == 2
    for cable in (5, 15, 0, n):
        ring.segment.unplug(cable)
        for _ in range(3):
            ring.step(order)
            assert ring.cells["valid"] == 1
            assert ring.ring[:2] == (1, cable)
        ring.segment.plug(cable)
        ring.step(order)
        assert ring.cells["valid"] == 1
        assert ring.ring[0] == 0
    assert ring.torques == pytest.approx([1.0] * n, abs=0.01)
    assert ring.counters() == NONE


@pytest.mark.parametrize("cable", [0, N])
def test_a_cable_of_the_master_that_is_out_is_not_waited_for(patient_ring, cable):
    patient_ring.segment.unplug(cable)
    for _ in range(6):
        patient_ring.step()
        assert patient_ring.cells["valid"] == 1


@pytest.mark.parametrize("half", [FIRST, SECOND])
def test_a_half_that_is_lost_once_costs_one_cycle(ring, half):
    ring.segment.unplug(1)
    ring.step()
    ring.step(lose=[half])
    assert ring.cells["valid"] == 0
    # the drives on the other side are seen all the same
    seen = [ring.cells[f"drive{i}/valid"] for i in range(N)]
    assert seen == ([0, 1, 1] if half == FIRST else [1, 0, 0])
    for _ in range(3):
        ring.step()
        assert ring.cells["valid"] == 1
    # it did come back in part
    assert ring.counters() == NONE


def test_a_ring_that_opens_between_the_frame_and_its_copy_costs_one_cycle(ring):
    # the copy passes, then the cable goes, and the frame comes back where it left
    segment = ring.segment
    done = ring.thread.submit(ring.block.step, ring.k * MS)
    frames = [ring.far[end].recv(2048) for end in (FIRST, SECOND)]
    t_ns = segment.now_ns + MS
    reply, leaves = segment.process_end(frames[SECOND], t_ns, SECOND)
    ring.far[leaves].send(reply)
    segment.unplug(2)
    reply, leaves = segment.process_end(frames[FIRST], t_ns, FIRST)
    assert leaves == FIRST
    ring.far[leaves].send(reply)
    done.result(10.0)
    ring.k += 1
    assert ring.cells["valid"] == 0
    for order in ORDERS:
        ring.step(order)
        assert ring.cells["valid"] == 1


@pytest.mark.slow
def test_a_silent_line_is_waited_for_three_times_and_merged_again_when_it_is_back(make_ring):
    ring = make_ring(LONG_US)
    ring.segment.unplug(2)
    ring.step()
    for _ in range(3):
        ring.step(lose=[SECOND])
        assert ring.cells["valid"] == 0
    ring.block_is_patient = True
    for _ in range(3):
        ring.step(lose=[SECOND])
        assert [ring.cells[f"drive{i}/valid"] for i in range(N)] == [1, 1, 0]
    # back: at first too late to be waited for, then part of every cycle
    ring.step()
    ring.step()
    for order in ORDERS:
        ring.step(order)
        assert ring.cells["valid"] == 1
    assert ring.counters() == NONE


def test_a_late_frame_is_counted_once_though_it_has_two_halves(ring):
    ring.segment.unplug(1)
    ring.step()
    ring.step(hold=[FIRST, SECOND])
    assert ring.counters() == NONE | {"lost": 1}
    ring.release()
    ring.step()
    assert ring.cells["valid"] == 1
    ring.step()
    assert ring.counters() == NONE | {"lost": 1, "late": 1}


def test_halves_that_come_twice_are_counted_and_change_nothing(ring):
    ring.segment.unplug(1)
    ring.step(hold=[SECOND])
    (leaves, reply), *_ = ring.held
    ring.release()
    ring.far[leaves].send(reply)
    ring.step()
    assert ring.cells["valid"] == 1
    assert ring.counters() == NONE | {"duplicated": 1}


@pytest.mark.parametrize("cable", [None, 0, 1])
@pytest.mark.slow
def test_mangled_frames_under_our_index_break_nothing(ring, cable):
    if cable is not None:
        ring.segment.unplug(cable)
    dice = random.Random(4711)

    def mangled(frame):
        found = bytearray(frame)
        for _ in range(dice.randint(1, 4)):
            # a chain that says something else of its sizes, commands and ends
            at = dice.choice([14, 15, 16, 18, 22, 23, *range(24, len(found))])
            found[at] = dice.choice([0x00, 0x07, 0x0E, 0x80, 0xFF, dice.getrandbits(8)])
        return bytes(found)

    for _ in range(300):
        ring.step(noise=mangled)
    ring.step()
    for _ in range(3):
        ring.step()
        assert ring.cells["valid"] == 1
    assert ring.ring[:2] == ((0, ring.ring[1]) if cable is None else (1, cable))


def test_a_foreign_frame_is_counted(ring):
    (frame,) = ring.sent[FIRST]
    ring.far[SECOND].send(frame[:14] + b"\xff\xff" + frame[16:])
    ring.step()
    assert ring.cells["valid"] == 1
    assert ring.counters() == NONE | {"foreign": 1}


@pytest.mark.parametrize("line", [FIRST, SECOND])
def test_a_line_that_refuses_costs_nothing(patient_ring, line):
    patient_ring.segment.unplug(0 if line == FIRST else N)
    patient_ring.far[line].close()
    for _ in range(5):
        patient_ring.step(dead=[line])
        assert patient_ring.cells["valid"] == 1
    assert patient_ring.ring[0] == 1


def test_without_any_line_frames_are_lost_at_once(patient_ring):
    for line in (FIRST, SECOND):
        patient_ring.far[line].close()
    patient_ring.step(dead=[FIRST, SECOND])
    assert patient_ring.cells["valid"] == 0
    assert patient_ring.counters() == NONE | {"lost": 1}


def clock_commands(ring):
    return [parse(frame)[0].command for (frame,) in ring.sent]


def test_the_copy_hands_on_no_clock_that_is_not_on_its_side(ring):
    for cable in (None, 1, 2, 3):
        if cable is not None:
            ring.segment.unplug(cable)
        for _ in range(5):
            before = ring.cells["dc_time_ns"]
            ring.step()
            assert clock_commands(ring) == [FRMW, FPRD]
            assert ring.cells["dc_time_ns"] > before
        # nobody was told that it is the year zero
        for device in ring.segment.devices:
            difference = int.from_bytes(device.memory(0x092C, 4), "little") & 0x7FFFFFFF
            assert difference < 1_000_000
        if cable is not None:
            ring.segment.plug(cable)
            ring.step()


def test_the_copy_hands_the_clock_on_when_all_slaves_are_on_its_side(ring):
    ring.segment.unplug(0)
    commands = []
    for _ in range(5):
        before = ring.cells["dc_time_ns"]
        ring.step()
        commands.append(clock_commands(ring)[SECOND])
        assert ring.cells["dc_time_ns"] > before
    assert commands == [FPRD] + [FRMW] * 4
    ring.segment.plug(0)
    ring.step()
    ring.step()
    assert clock_commands(ring)[SECOND] == FPRD


def test_a_slave_without_power_is_told_from_those_behind_it(ring):
    ring.segment.power_off(1)
    ring.step()
    assert [ring.cells[f"drive{i}/valid"] for i in range(N)] == [1, 0, 1]
    assert ring.ring == (1, 1, 1)


def test_a_missing_interface_is_named():
    with pytest.raises(OSError, match="nosuch0"):
        open_lines("nosuch0", "nosuch1")
