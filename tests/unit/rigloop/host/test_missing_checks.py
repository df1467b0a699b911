import pytest

from rigloop.host import missing_checks
from rigloop.run_folder.not_started import NotStartedError
from rt_core.doctor.check import Check, Level

RED = Check("swap", Level.RED, "on", "because", "swapoff\n# or less")
AMBER, GREEN = Check("b", Level.AMBER, "x", "y", "z"), Check("c", Level.GREEN, "x", "y")


def test_a_strict_run_is_refused_with_each_remedy():
    missing_checks.refuse_if_red([GREEN, AMBER])
    with pytest.raises(NotStartedError, match=r"strict.*\nswap: on; because; swapoff # or less$"):
        missing_checks.refuse_if_red([GREEN, RED])


def test_a_right_that_the_cycle_process_did_not_get_is_red():
    lock = Check("memory lock", Level.GREEN, "no limit", "pages")
    right = {
        "name": "memory lock",
        "held": False,
        "needed": True,
        "why": "ENOMEM",
        "remedy": "free",
    }
    found = missing_checks.with_rights([GREEN, lock], [right])
    assert found == [Check("memory lock", Level.RED, "ENOMEM", "pages", "free"), GREEN]
    assert missing_checks.with_rights([lock], [right | {"held": True}]) == [lock]
    assert missing_checks.with_rights([lock], [right | {"needed": False}]) == [lock]
