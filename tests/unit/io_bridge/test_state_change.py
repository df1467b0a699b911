import pytest

from io_bridge.bus_errors import BringUpError
from io_bridge.devices.catalogue import make_device
from io_bridge.state_change import together
from io_bridge.state_limits import StateLimits


def test_limits_are_those_of_the_standard_unless_an_esi_says_otherwise():
    limits = StateLimits()
    assert (limits.of(2, 1), limits.of(4, 2), limits.of(8, 4), limits.of(1, 8)) == (3, 10, 10, 5)
    with pytest.raises(ValueError, match=r"preop_s = 0.*back_s = nan"):
        StateLimits(preop_s=0, back_s=float("nan"))


def test_a_slave_that_stays_where_it_was_is_told_with_its_limit(segment_master):
    master = segment_master(make_device("direct_drive+slow_transition:safeop_s=9"))
    from io_bridge.bringup import prepare
    from io_bridge.drive_config import DriveConfig

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
