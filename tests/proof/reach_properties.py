"""Laws of the reach of faults over guards, of one cycle of one guard: they hold of any number of them."""

from __future__ import annotations

from bitwuzla import Term
from c_symbolic import Program
from guard_cycle import (
    FAULT,
    INIT,
    NONE,
    OTHER_TRIPPED,
    READY,
    SOURCE,
    STOPPING,
    Cycle,
    of_a_cycle,
)
from prover import Property, Question, Words


def _reach(c: Cycle) -> Term:
    """Return whether a fault that reaches this guard ends its torque, under a name that reaches nobody."""
    w, found = c.words, c.step["found"]
    reached = w.all(w.ne(c.seen["other"], 0), c.is_active(c.before))
    named = w.eq(found["code"], OTHER_TRIPPED)
    alone = w.eq(c.before["state"], FAULT)
    return w.all(
        w.implies(reached, w.one_of(c.after["state"], STOPPING, FAULT)),
        w.implies(named, w.all(w.ne(c.seen["other"], 0), w.no(alone))),
        w.implies(
            w.all(w.ne(c.seen["other"], 0), w.one_of(c.before["state"], INIT, READY)),
            w.eq(c.after["state"], INIT),
        ),
    )


def _calms(c: Cycle) -> Term:
    """Return whether a guard with no cause of its own and arm low goes towards READY, whatever the others show.

    From FAULT at once, from STOPPING with its ramp, and from INIT as soon as nobody reaches it: of any number of guards
    none is held by others for good, as only STOPPING and FAULT take others along.
    """
    w, s, found = c.words, c.seen, c.step["found"]
    low = w.all(w.le(s["arm"], 0.5), w.lt(s["stop"], 0.5), w.lt(s["own_stop"], 0.5))
    own = w.all(w.ne(found["reaction"], NONE), w.ne(found["code"], OTHER_TRIPPED))
    good = w.all(w.eq(c.after["sensor_bad_ns"], 0), w.eq(c.after["request_bad_ns"], 0))
    calm = w.all(low, w.no(own), good)
    was, now, alone = c.before["state"], c.after["state"], w.eq(s["other"], 0)
    ramps = w.any(w.lt(c.after["gain"], c.before["gain"]), w.eq(c.after["gain"], 0.0))
    return w.all(
        w.implies(w.all(calm, w.eq(was, FAULT)), w.eq(now, READY)),
        w.implies(w.all(calm, w.one_of(was, INIT, READY)), w.one_of(now, INIT, READY)),
        w.implies(w.all(calm, alone, w.one_of(was, INIT, READY)), w.eq(now, READY)),
        w.implies(w.all(calm, c.is_active(c.before)), w.one_of(now, STOPPING, INIT, FAULT)),
        w.implies(w.all(calm, c.is_active(c.before)), ramps),
    )


def _takes_along(program: Program) -> Question:
    w = Words(program.terms)
    state, trip = program.terms.fresh("double", "state"), program.terms.fresh("double", "trip")
    along = w.true(program.call("guard_takes_along", state, trip))
    goal = w.all(
        w.implies(along, w.any(w.eq(state, STOPPING), w.eq(state, FAULT))),
        w.implies(w.any(w.eq(trip, 0.0), w.eq(trip, OTHER_TRIPPED)), w.no(along)),
        *(
            w.implies(w.all(w.eq(state, s), w.eq(trip, t)), along)
            for s in (STOPPING, FAULT)
            for t in range(1, 13)
        ),
    )
    return Question([], goal, {"state": state, "trip": trip})


PROPERTIES = (
    of_a_cycle("reach: reached", "a fault that reaches a guard ends its torque or keeps it unfit", _reach),
    of_a_cycle("reach: calms", "with no cause of its own and arm low: FAULT to READY, whatever others show", _calms),
    Property("reach: takes along", SOURCE, "own causes reach others, those taken along reach nobody", _takes_along),
)  # fmt: skip
