"""The state of a rig in words, from numbers of its signals."""

from rigloop.monitor.sources.description import description_of
from rigloop.monitor.sources.words import in_words, watched
from rt_core.safety.trips import State, Trip


def values_of(of, **changed):
    values = dict.fromkeys(watched(of), 0.0)
    values |= {"guard/state": float(State.RUNNING), "bus/al_state": 8.0, "bus/wheel/al_state": 8.0}
    return values | {path.replace("__", "/"): value for path, value in changed.items()}


def test_a_good_rig_has_no_fault(rigs):
    of = description_of(rigs("steering_wheel"))
    words = in_words(of, values_of(of))
    assert words["faults"] == []
    assert words["guards"][0]["state"] == "RUNNING"
    assert words["buses"][0]["slaves"][0]["state"] == "OP"


def test_a_trip_is_a_sentence_with_value_limit_and_remedy(rigs):
    of = description_of(rigs("steering_wheel"))
    values = values_of(
        of,
        guard__trip=float(Trip.ANGLE_LIMIT),
        guard__trip_value=8.0,
        guard__trip_limit=7.7,
        guard__state=float(State.FAULT),
    )
    (said,) = in_words(of, values)["faults"]
    assert "the angle is out of range, 8 rad at a limit of 7.7 rad" in said
    assert "move the wheel back" in said


def test_a_fault_of_a_block_is_named_in_the_words_of_its_kind(rigs):
    of = description_of(rigs("steering_wheel"))
    values = values_of(of, loop__simulation__fault=3.0, loop__simulation__fault_block=1.0)
    (said,) = in_words(of, values)["faults"]
    assert said.startswith("block steering of task simulation: fault 3: the step did not converge")


def test_numbers_that_nobody_writes_are_words_all_the_same(rigs):
    of = description_of(rigs("live_bench"))
    for number in (float("nan"), float("inf"), -1.0, 1e300, 77.0):
        words = in_words(of, dict.fromkeys(watched(of), number))
        assert set(words["stimuli"]) == {"shake", "push", "noise"}
    of = description_of(rigs("steering_wheel"))
    for number in (float("nan"), -1.0, 1e300, 77.0):
        assert in_words(of, dict.fromkeys(watched(of), number))["guards"]
    assert in_words(of, {})["guards"][0]["state"] == ""
