import time

from rigloop.live.stay_after_trip import StayAfterTrip


def test_a_run_without_anything_to_wait_for_is_over_when_the_guard_lets_go():
    ending = StayAfterTrip(0.0)
    assert not ending.over(False)
    assert ending.over(True)


def test_a_run_stays_for_what_may_come_back_and_then_is_over_whatever_the_guard_does():
    ending = StayAfterTrip(0.05)
    time.sleep(0.06)
    # it is the guard that starts the clock
    assert not ending.over(False)
    assert not ending.over(True)
    time.sleep(0.06)
    assert ending.over(False)
