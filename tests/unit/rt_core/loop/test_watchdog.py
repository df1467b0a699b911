"""When a task counts as standing still, tick by tick, and what the watchdog does then."""

import pytest

from rt_core.loop.watchdog import watched

TICK_NS = 2_000_000
STALL_NS = 10_000_000
MS = 1_000_000


def ticks(beats, n, first_ns=TICK_NS, late_ns=0):
    """Give n ticks on time, the tasks' deadlines as they are at each: a function of the time."""
    times = [first_ns + i * TICK_NS for i in range(n)]
    return [(due, due + late_ns, beats(due)) for due in times]


def standing(*beats_ns, ended=False):
    return lambda t_ns: [(beat, ended) for beat in beats_ns]


def first_stalled(found):
    return next((i for i, tick in enumerate(found) if tick.stalled is not None), None)


def test_a_task_that_moves_on_never_stands_still():
    assert first_stalled(watched(ticks(lambda t: [(t, False)], 40), stall_ns=STALL_NS)) is None


@pytest.mark.parametrize(("stall_ns", "tick"), [(TICK_NS, 2), (9 * MS, 5), (STALL_NS, 6)])
def test_a_task_stands_still_when_more_than_its_time_has_gone_since_its_deadline(stall_ns, tick):
    # the deadline was at the first tick, number 0: at tick k it is k ticks old
    found = watched(ticks(standing(TICK_NS), 12), stall_ns=stall_ns)
    assert first_stalled(found) == tick
    assert (found[-1].for_ns, found[-1].cycle) == (tick * TICK_NS, TICK_NS // 1000)
    assert found[-1].stop


def test_exactly_the_time_is_not_yet_a_stall():
    found = watched(ticks(standing(TICK_NS), 6), stall_ns=5 * TICK_NS)
    assert first_stalled(found) is None
    assert not found[-1].stop


def test_one_look_is_never_enough_however_old_the_deadline_is():
    old = standing(1)
    for n, stalled in ((1, None), (2, 1)):
        found = watched(ticks(old, n, first_ns=1_000 * MS), stall_ns=STALL_NS)
        assert first_stalled(found) == stalled


def test_a_task_that_moved_between_two_looks_is_alive_though_its_deadline_is_old():
    # it works through what it missed: each look shows another old deadline
    found = watched(
        ticks(lambda t: [(t - 100 * MS, False)], 20, first_ns=1_000 * MS), stall_ns=STALL_NS
    )
    assert first_stalled(found) is None


def test_a_machine_that_stood_still_as_a_whole_is_no_stall():
    # the watchdog itself comes 500 ms late: what it saw before says nothing
    seen = ticks(standing(TICK_NS), 3)
    late = [(8 * MS, 508 * MS, [(TICK_NS, False)])]
    again = ticks(standing(TICK_NS), 1, first_ns=510 * MS)
    alive = ticks(lambda t: [(t, False)], 5, first_ns=512 * MS)
    found = watched(seen + late + again + alive, stall_ns=STALL_NS)
    assert first_stalled(found) is None
    assert [tick.from_ns for tick in found[:5]] == [2 * MS, 4 * MS, 6 * MS, 508 * MS, 510 * MS]
    # a task that still stands two looks later does
    found = watched(seen + late + ticks(standing(TICK_NS), 2, first_ns=510 * MS), stall_ns=STALL_NS)
    assert first_stalled(found) == 5


def test_time_in_which_the_machine_kept_the_watchdog_is_told():
    # the deadline is at 2 ms, its time over at 12 ms; the tick of 12 ms comes at 20 ms, and says nothing
    seen = ticks(standing(TICK_NS), 5)
    late = [(12 * MS, 20 * MS, [(TICK_NS, False)])]
    found = watched(seen + late + ticks(standing(TICK_NS), 3, first_ns=22 * MS), stall_ns=STALL_NS)
    # without that it would have been found at 14 ms
    assert (found[-1].for_ns, found[-1].kept_ns) == (22 * MS, 10 * MS)


def test_a_late_watchdog_before_the_time_of_a_task_was_over_costs_nothing():
    late = [(4 * MS, 9 * MS, [(TICK_NS, False)])]
    found = watched(
        ticks(standing(TICK_NS), 1) + late + ticks(standing(TICK_NS), 4, first_ns=11 * MS),
        stall_ns=STALL_NS,
    )
    assert (found[-1].for_ns, found[-1].kept_ns) == (11 * MS, 0)


@pytest.mark.parametrize(
    ("word", "stop"), [(0, False), (4711, False), (0x40000000, True), (0xC0000000, True)]
)
def test_a_supervisor_that_has_died_stops_the_loop_at_the_next_tick(word, stop):
    found = watched(ticks(lambda t: [(t, False)], 3), stall_ns=STALL_NS, life=[0, 0, word])
    assert [tick.stop for tick in found] == [False, False, stop]


def test_a_tick_that_is_late_by_no_more_than_a_tick_still_looks():
    found = watched(ticks(standing(TICK_NS), 8, late_ns=TICK_NS), stall_ns=STALL_NS)
    assert found[-1].stalled == 0
    found = watched(ticks(standing(TICK_NS), 8, late_ns=TICK_NS + 1), stall_ns=STALL_NS)
    assert found[-1].stalled is None


@pytest.mark.parametrize(("beat_ns", "ended"), [(0, False), (TICK_NS, True)])
def test_a_task_that_has_not_begun_or_has_ended_is_not_watched(beat_ns, ended):
    found = watched(ticks(standing(beat_ns, ended=ended), 40), stall_ns=STALL_NS)
    assert first_stalled(found) is None


def test_the_task_that_stands_still_is_named_and_it_stays_the_first():
    def beats(t_ns):
        return [(t_ns, False), (TICK_NS, False), (min(t_ns, 6 * TICK_NS), False)]

    found = watched(ticks(beats, 30), stall_ns=STALL_NS)
    assert {tick.stalled for tick in found[10:]} == {1}
    assert {tick.for_ns for tick in found[10:]} == {6 * TICK_NS}
    assert found[-1].sent == 0
    # a task behind one that is not watched any more is watched
    found = watched(
        ticks(lambda t: [(0, False), (TICK_NS, True), (TICK_NS, False)], 30), stall_ns=STALL_NS
    )
    assert found[-1].stalled == 2


def test_the_outputs_of_the_task_with_the_actuator_are_made_safe_at_once_and_at_each_tick():
    found = watched(ticks(standing(TICK_NS), 9), stall_ns=STALL_NS, guarded=0, start_ns=MS)
    assert [tick.sent for tick in found] == [0, 0, 0, 0, 0, 0, 1, 2, 3]
    assert found[-1].called_ns == tuple(7 * TICK_NS + i * TICK_NS - MS for i in range(3))


def test_outputs_that_cannot_leave_are_sent_at_the_next_tick_also_when_it_is_late():
    stalled = ticks(standing(TICK_NS), 8)
    late = [(9 * TICK_NS, 20 * TICK_NS, [(TICK_NS, False)])]
    found = watched(stalled + late, stall_ns=STALL_NS, guarded=0, refused=2)
    assert [tick.sent for tick in found[-3:]] == [0, 0, 1]


@pytest.mark.parametrize("guarded", [None, 1])
def test_a_stall_elsewhere_leaves_the_actuator_alone(guarded):
    def beats(t_ns):
        return [(TICK_NS, False), (t_ns, False)]

    found = watched(ticks(beats, 12), stall_ns=STALL_NS, guarded=guarded)
    assert (found[-1].stalled, found[-1].sent, found[-1].called_ns) == (0, 0, ())


def test_a_task_that_gets_no_core_beside_one_that_hangs_is_taken_too():
    def beats(t_ns):
        return [(TICK_NS, False), (min(t_ns, 3 * TICK_NS), False)]

    found = watched(ticks(beats, 12), stall_ns=STALL_NS, guarded=1)
    assert found[-1].stalled == 0
    # 18 ms: the first look at which more than 10 ms have gone since its deadline of 6 ms
    assert [tick.sent for tick in found[7:]] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n", [0, 5])
def test_a_wrong_number_of_tasks_is_refused(n):
    with pytest.raises(ValueError, match="one to 4 tasks"):
        watched([(0, 0, [(0, False)] * n)], stall_ns=STALL_NS)


def test_too_many_ticks_and_another_number_of_tasks_meanwhile_are_refused():
    assert len(watched(iter(ticks(standing(0, 0, 0, 0), 64)), stall_ns=STALL_NS)) == 64
    for wrong in (
        [],
        ticks(standing(0), 65),
        ticks(standing(0), 1) + ticks(standing(0, 0), 1),
    ):
        with pytest.raises(ValueError, match="at most 64 ticks"):
            watched(wrong, stall_ns=STALL_NS)
