import pytest

from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.master.state_change import reach_now, together
from io_bridge.slaves.errors import BringUpError, NoReplyError
from io_bridge.slaves.state_limits import StateLimits


def test_limits_are_those_of_the_standard_unless_an_esi_says_otherwise():
    limits = StateLimits()
    assert (limits.of(2, 1), limits.of(4, 2), limits.of(8, 4), limits.of(1, 8)) == (3, 10, 10, 5)
    with pytest.raises(ValueError, match=r"preop_s = 0.*back_s = nan"):
        StateLimits(preop_s=0, back_s=float("nan"))


def test_a_slave_that_stays_where_it_was_is_told_with_its_limit(segment_master):
    master = segment_master(make_device("direct_drive+slow_transition:safeop_s=9"))
    from io_bridge.master.bringup import prepare
    from io_bridge.slaves.drive_config import DriveConfig

    slow = DriveConfig(limits=StateLimits(safeop_op_s=0.5))
    with pytest.raises(
        BringUpError, match=r"SAFEOP asked, it is in PREOP after 0.5 s \(limit 0.5 s\)"
    ):
        prepare(master, [slow])


def test_changes_beside_each_other_name_every_failure():
    def fails(text, after):
        for _ in range(after):
            yield
        raise BringUpError(text)

    with pytest.raises(BringUpError, match=r"^first; second$"):
        for _ in together([fails("second", 5), iter(()), fails("first", 1)]):
            pass


def test_a_cable_that_is_put_back_in_time_is_waited_for(segment_master):
    master = segment_master(make_device("direct_drive+slow_transition:preop_s=2"))
    station = master.address(0)
    master.set_mailbox(station)
    plain, left = master._transact, [3000]

    def lossy(frame):
        left[0] -= 1
        reply = plain(frame)
        return None if 0 < left[0] < 2800 else reply

    master._transact = lossy
    reach_now(master, station, 2)
    assert left[0] < 0


def test_a_line_that_stays_dead_is_told_as_such(segment_master):
    master = segment_master(make_device("direct_drive+slow_transition:preop_s=2"))
    station = master.address(0)
    master.set_mailbox(station)
    plain, left = master._transact, [20]

    def cut(frame):
        left[0] -= 1
        return plain(frame) if left[0] > 0 else None

    master._transact = cut
    with pytest.raises(
        BringUpError, match=r"slave 0: the frame .* PREOP was requested, and no frame"
    ):
        reach_now(master, station, 2)
    # that is the line's fault; nothing is said of a slave that refuses
    with pytest.raises(NoReplyError):
        master.state(station)


@pytest.mark.parametrize(
    ("quirk", "remedy"),
    [
        ("refused_transition:to=preop,code=0x0016,times=0", "0x0016 .*maker's tool"),
        ("refused_transition:to=preop,code=0x0003,times=0", "0x0003 .*with setup"),
        ("refused_transition:to=preop,code=0x8001,times=0", "0x8001 .*its data sheet"),
    ],
)
def test_a_refusal_says_what_to_do(segment_master, quirk, remedy):
    master = segment_master(make_device(f"direct_drive+{quirk}"))
    station = master.address(0)
    master.set_mailbox(station)
    with pytest.raises(BringUpError, match=f"slave 0: PREOP asked, .*{remedy}"):
        reach_now(master, station, 2)
