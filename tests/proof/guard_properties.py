"""Laws of every cycle of a guard: they hold at the start, and each cycle keeps them, for any input at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bitwuzla import Kind, Term
from c_symbolic import Contract, Program, Struct, copied
from products import sum_laws
from prover import Property, Question, Words
from terms import Terms, Value

SOURCE = "rt_core/safety/cycle.h"
INIT, READY, RUNNING, HOLD, STOPPING, FAULT = range(6)
NONE, RAMP, SAFE = range(3)
OTHER_TRIPPED = 13
LONGEST_NS = 10**15
LAST_NS = 2**62  # 146 years
BUCKETS = ("sensor_bucket_ns", "skip_bucket_ns")


class Cycle:
    """A cycle of a guard from any memory that fulfils the invariant, with any limits, on any input."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.words = Words(program.terms)
        self.limits = program.symbols("GuardLimits", "limits")
        self.before = program.symbols("GuardMemory", "before")
        self.seen = program.symbols("GuardSeen", "seen")
        self.t_ns = program.terms.fresh("int64_t", "t_ns")
        self.after = copied(self.before)
        self.step = program.call("guard_cycle", self.after, self.limits, self.seen, self.t_ns)

    def assumed(self) -> list[Term]:
        w, t = self.words, self.t_ns
        clock = w.all(w.le(self.before["t_ns"], t), w.within(0, t, LAST_NS))
        return [*limits_are_good(w, self.limits), *invariant(w, self.limits, self.before), clock]

    def is_active(self, memory: Struct) -> Term:
        return self.words.one_of(memory["state"], RUNNING, HOLD, STOPPING)

    def is_at_rest(self, memory: Struct) -> Term:
        return self.words.one_of(memory["state"], INIT, READY, FAULT)

    def shown(self) -> dict[str, Value]:
        pairs = [
            (f"{when}.{name}", memory[name])
            for when, memory in (("before", self.before), ("after", self.after))
            for name in ("state", "output_nm", "good_nm", "gain", "tripped")
        ]
        return dict(pairs) | {
            "found": self.step["found"]["code"],
            "step_nm": self.limits["step_nm"], "limit_nm": self.limits["limit_nm"],
        }  # fmt: skip


def limits_are_good(w: Words, lim: Struct) -> list[Term]:
    """Return what `GuardConfig` and `Guard` see to."""
    times = (
        "max_request_age_ns",
        "request_hold_ns",
        "sensor_hold_ns",
        "max_gap_ns",
        "heartbeat_timeout_ns",
    )
    return [
        w.within(1, lim["period_ns"], 10**9),
        *(w.all(w.lt(0.0, lim[key]), w.finite(lim[key])) for key in ("limit_nm", "step_nm")),
        w.finite(lim["factor"]),
        w.all(w.lt(0.0, lim["gain_in"]), w.le(lim["gain_in"], 1.0)),
        w.within(1e-8, lim["gain_out"], 1.0),  # ramp_out_s is 0.1 at most
        *(w.within(0, lim[key], LONGEST_NS) for key in times),
        *(w.within(1, lim[key], LONGEST_NS) for key in ("sensor_bucket_ns", "skip_bucket_ns")),
    ]


def top_of(w: Words, lim: Struct, bucket: str) -> Value:
    double = w.terms.of(Kind.BV_ADD, lim["period_ns"].term, lim["period_ns"].term)
    return Value("int64_t", w.terms.of(Kind.BV_ADD, lim[bucket].term, double))


def invariant(w: Words, lim: Struct, m: Struct) -> list[Term]:
    """Return what holds of the memory between two cycles."""
    return [*of_torque(w, lim, m), *of_time(w, lim, m)]


def of_torque(w: Words, lim: Struct, m: Struct) -> list[Term]:
    at_rest = w.one_of(m["state"], INIT, READY, FAULT)
    return [
        w.within(0, m["state"], 5),
        w.le(w.size(m["output_nm"]), lim["limit_nm"]),
        w.le(w.size(m["good_nm"]), lim["limit_nm"]),
        w.within(0.0, m["gain"], 1.0),
        w.implies(at_rest, w.eq(m["output_nm"], 0.0)),
    ]


def of_time(w: Words, lim: Struct, m: Struct) -> list[Term]:
    ages = ("passed_ns", "request_age_ns", "request_bad_ns", "sensor_bad_ns")
    return [
        *(w.within(0, m[age], LONGEST_NS) for age in ages),
        *(w.within(0, m[b], top_of(w, lim, b)) for b in BUCKETS),
        w.within(0, m["t_ns"], LAST_NS),
        w.within(-LONGEST_NS - 1, m["heartbeat_ns"], LAST_NS),
    ]


def _toward_asks(terms: Terms, args: Sequence[Value]) -> Term:
    w, (output, target, step) = Words(terms), args
    return w.all(w.finite(output), w.finite(target), w.finite(step), w.lt(0.0, step))


def _toward_promises(terms: Terms, args: Sequence[Value], new: Value) -> Term:
    w, (output, target, step) = Words(terms), args
    between = w.any(w.within(output, new, target), w.within(target, new, output))
    return w.all(between, changes_by(w, output, new, step))


def _gain_asks(terms: Terms, args: Sequence[Value]) -> Term:
    w, (gain, _, gain_in, gain_out, periods) = Words(terms), args
    amounts = w.all(
        w.lt(0.0, gain_in), w.le(gain_in, 1.0), w.within(1e-8, gain_out, 1.0), w.le(1.0, periods)
    )
    return w.all(w.within(0.0, gain, 1.0), amounts, w.finite(periods))


def _gain_promises(terms: Terms, args: Sequence[Value], new: Value) -> Term:
    w, (gain, state, *_) = Words(terms), args
    driven = w.one_of(state, RUNNING, HOLD)
    return w.all(
        w.within(0.0, new, 1.0),
        w.implies(driven, w.le(gain, new)),
        w.implies(w.eq(state, STOPPING), w.any(w.lt(new, gain), w.eq(new, 0.0))),
        w.implies(w.one_of(state, INIT, READY, FAULT), w.eq(new, 0.0)),
    )


CONTRACTS = {
    "guard_toward": Contract(_toward_asks, _toward_promises),
    "guard_gain": Contract(_gain_asks, _gain_promises),
}
Goal = Callable[[Cycle], Term]


def _of_a_cycle(name: str, words: str, goal: Goal) -> Property:
    def ask(program: Program) -> Question:
        cycle = Cycle(program)
        return Question(cycle.assumed(), goal(cycle), cycle.shown())

    return Property(name, SOURCE, words, ask, contracts=CONTRACTS)


def _of_a_function(name: str, words: str, function: str) -> Property:
    def ask(program: Program) -> Question:
        args = program.arguments(function)
        found = program.call(function, *args)
        contract = CONTRACTS[function]
        w = Words(program.terms)
        promised = w.by_cases(found, lambda value: contract.promises(program.terms, args, value))
        goal = w.all(promised, w.needs(program))
        shown = {arg.term.symbol(): arg for arg in args} | {"found": found}
        laws = (
            sum_laws(program.terms, *(arg.term for arg in args))
            if function == "guard_toward"
            else []
        )
        return Question([contract.asks(program.terms, args), *laws], goal, shown)

    return Property(name, SOURCE, words, ask)


def _at_rest_is_zero(c: Cycle) -> Term:
    return c.words.implies(c.is_at_rest(c.after), c.words.eq(c.after["output_nm"], 0.0))


def _within_limit(c: Cycle) -> Term:
    w, torque = c.words, c.after["output_nm"]
    return w.all(w.finite(torque), w.le(w.size(torque), c.limits["limit_nm"]))


def changes_by(w: Words, old: Value, new: Value, step: Value) -> Term:
    """Return whether the exact change is at most `step` and half a unit in the last place of the larger of it and new.

    Rounding moves old + step, or the difference of new and old, by no more than half a unit of what comes out.
    """
    within = w.le(w.size(w.difference(new, old)), step)
    return w.any(within, w.same(new, w.sum(old, step)), w.same(new, w.difference(old, step)))


def _slope(c: Cycle) -> Term:
    """Return whether the step is kept, but where SAFE drops the torque of an active guard: it is in FAULT then."""
    w, old, step = c.words, c.before["output_nm"], c.limits["step_nm"]
    kept = w.by_cases(c.after["output_nm"], lambda new: changes_by(w, old, new, step))
    drops = w.all(c.is_active(c.before), w.eq(c.step["found"]["reaction"], SAFE),
                  w.eq(c.after["state"], FAULT), w.eq(c.after["output_nm"], 0.0))  # fmt: skip
    return w.any(drops, kept)


def _entries(c: Cycle) -> Term:
    """Return whether an active guard comes to rest by SAFE, or by a ramp-out whose torque and gain have ended."""
    w, m = c.words, c.after
    safe = w.eq(c.step["found"]["reaction"], SAFE)
    comes = w.all(c.is_active(c.before), c.is_at_rest(m))
    ramped = w.all(w.eq(m["gain"], 0.0), w.le(w.size(c.before["output_nm"]), c.limits["step_nm"]))
    return w.all(
        w.implies(comes, w.one_of(m["state"], INIT, FAULT)),
        w.implies(w.all(comes, w.no(safe)), ramped),
        w.implies(w.all(comes, w.eq(m["state"], FAULT), w.no(safe)), w.true(m["tripped"])),
    )


def _hold(c: Cycle) -> Term:
    w = c.words
    held = w.le(w.size(c.after["output_nm"]), w.size(c.before["output_nm"]))
    return w.implies(
        w.eq(c.after["state"], HOLD), w.all(held, w.same(c.after["good_nm"], c.before["good_nm"]))
    )


def _trips(c: Cycle) -> Term:
    w, reaction = c.words, c.step["found"]["reaction"]
    active = c.is_active(c.before)
    ramps = w.all(w.one_of(c.after["state"], STOPPING, FAULT), w.true(c.after["tripped"]))
    return w.all(
        w.one_of(reaction, NONE, RAMP, SAFE),
        w.implies(w.all(active, w.eq(reaction, SAFE)), w.eq(c.after["state"], FAULT)),
        w.implies(w.all(active, w.eq(reaction, RAMP)), ramps),
        w.implies(w.all(w.no(active), w.ne(reaction, NONE)), c.is_at_rest(c.after)),
    )


def _bucket(c: Cycle) -> Term:
    w, found = c.words, c.step["found"]["reaction"]
    lim, was, m, s, period = c.limits, c.before, c.after, c.seen, c.limits["period_ns"]
    sensor = w.all(
        w.lt(0.5, s["sensor_valid"]), w.finite(s["angle_rad"]), w.finite(s["rate_rad_s"])
    )
    gap = w.lt(period, m["passed_ns"])

    def fills(bucket: str) -> Term:
        return w.any(w.lt(was[bucket], m[bucket]), w.eq(m[bucket], top_of(w, lim, bucket)))

    return w.all(
        *(w.implies(w.le(lim[b], m[b]), w.ne(found, NONE)) for b in BUCKETS),
        *(w.le(m[b], top_of(w, lim, b)) for b in BUCKETS),
        w.implies(w.no(sensor), fills("sensor_bucket_ns")),
        w.implies(gap, fills("skip_bucket_ns")),
    )


def _too_long(c: Cycle) -> Term:
    w, lim, m, found = c.words, c.limits, c.after, c.step["found"]["reaction"]
    silent = Value("int64_t", w.terms.of(Kind.BV_SUB, c.t_ns.term, m["heartbeat_ns"].term))
    pairs = (
        ("passed_ns", "max_gap_ns"), ("sensor_bad_ns", "sensor_hold_ns"),
        ("request_bad_ns", "request_hold_ns"), ("request_age_ns", "max_request_age_ns"),
    )  # fmt: skip
    return w.all(
        *(w.implies(w.lt(lim[most], m[age]), w.ne(found, NONE)) for age, most in pairs),
        w.implies(w.lt(lim["heartbeat_timeout_ns"], silent), w.ne(found, NONE)),
    )


def _time(c: Cycle) -> Term:
    """Return whether time counts in full: by the clock, or all of it where `elapsed` is no number."""
    w, was, m, period, s = c.words, c.before, c.after, c.limits["period_ns"], c.seen
    passed = m["passed_ns"]
    clock = Value("int64_t", w.terms.of(Kind.BV_SUB, c.t_ns.term, was["t_ns"].term))
    sensor = w.all(
        w.lt(0.5, s["sensor_valid"]), w.finite(s["angle_rad"]), w.finite(s["rate_rad_s"])
    )
    request = w.finite(s["torque_request_nm"])

    def older(age: str) -> Term:
        grown = Value("int64_t", w.terms.of(Kind.BV_ADD, was[age].term, passed.term))
        return w.any(w.le(grown, m[age]), w.eq(m[age], LONGEST_NS))

    def bad_for(age: str, good: Term) -> Term:
        return w.all(
            w.implies(good, w.eq(m[age], 0)),
            w.implies(w.no(good), w.le(period, m[age])),
            w.implies(w.all(w.no(good), w.lt(0, was[age])), older(age)),
        )

    def fresh(port: str) -> Term:
        return w.all(w.finite(s[port]), w.ne(s[port], was[port]))

    return w.all(
        w.within(period, passed, LONGEST_NS),
        w.implies(w.true(was["stepped"]), w.any(w.le(clock, passed), w.eq(passed, LONGEST_NS))),
        w.true(m["stepped"]),
        w.eq(m["t_ns"], c.t_ns),
        w.implies(
            w.no(w.lt(s["elapsed"], 1e15)),
            w.any(w.eq(passed, LONGEST_NS), w.eq(s["elapsed"], 1e15)),
        ),
        bad_for("sensor_bad_ns", sensor),
        bad_for("request_bad_ns", request),
        w.implies(fresh("request_cycle"), w.eq(m["request_age_ns"], 0)),
        w.implies(w.no(fresh("request_cycle")), older("request_age_ns")),
        w.implies(fresh("heartbeat"), w.eq(m["heartbeat_ns"], c.t_ns)),
        w.implies(w.no(fresh("heartbeat")), w.eq(m["heartbeat_ns"], was["heartbeat_ns"])),
    )


def _elapsed(program: Program) -> Question:
    """A gap that only `elapsed` tells counts: two periods and more as two at least."""
    w = Words(program.terms)
    period, clock = (program.terms.fresh("int64_t", name) for name in ("period_ns", "clock_ns"))
    elapsed = program.terms.fresh("double", "elapsed")
    passed = program.call("guard_passed_ns", period, clock, elapsed)
    twice = Value("int64_t", w.terms.of(Kind.BV_ADD, period.term, period.term))
    goal = w.all(w.needs(program), w.implies(w.no(w.lt(elapsed, 2.0)), w.le(twice, passed)))
    assumed = [w.within(1, period, 10**9), w.within(0, clock, LAST_NS)]
    return Question(assumed, goal, {"period_ns": period, "elapsed": elapsed, "passed_ns": passed})


def _bad_input(c: Cycle) -> Term:
    """Return whether each bad value of a port is found at once, NaN among them, or bridged."""
    w, s, lim, found = c.words, c.seen, c.limits, c.step["found"]["reaction"]
    sensor = w.all(
        w.lt(0.5, s["sensor_valid"]), w.finite(s["angle_rad"]), w.finite(s["rate_rad_s"])
    )
    blind = w.any(w.no(sensor), w.no(w.finite(s["torque_request_nm"])))
    bad = [
        w.no(w.eq(s["own_fault"], 0.0)), w.no(w.eq(s["request_fault"], 0.0)),
        w.all(sensor, w.no(w.le(w.size(s["angle_rad"]), lim["max_angle_rad"]))),
        w.all(sensor, w.no(w.le(w.size(s["rate_rad_s"]), lim["max_rate_rad_s"]))),
    ]  # fmt: skip
    ready = w.lt(0.5, s["actuator_ready"])
    return w.all(
        w.implies(w.any(*bad), w.ne(found, NONE)),
        w.implies(w.no(ready), w.eq(found, SAFE)),
        w.implies(blind, w.ne(c.after["state"], RUNNING)),
    )


def _arming(c: Cycle) -> Term:
    w, s = c.words, c.seen
    high, low = w.lt(0.5, s["arm"]), w.true(c.before["arm_was_low"])
    no_stop = w.all(w.lt(s["stop"], 0.5), w.lt(s["own_stop"], 0.5))
    good = w.all(w.eq(c.step["found"]["reaction"], NONE), w.eq(c.after["sensor_bad_ns"], 0),
                 w.eq(c.after["request_bad_ns"], 0))  # fmt: skip
    begins = w.all(w.no(c.is_active(c.before)), c.is_active(c.after))
    from_fault = w.all(w.eq(c.before["state"], FAULT), w.ne(c.after["state"], FAULT))
    return w.all(
        w.implies(begins, w.all(high, low, no_stop, good, w.eq(c.after["state"], RUNNING),
                                w.ne(c.before["state"], FAULT))),
        w.implies(begins, w.all(w.true(c.step["armed"]), w.no(w.true(c.after["tripped"])))),
        w.implies(from_fault, w.all(w.eq(c.after["state"], READY), w.no(high), no_stop)),
        w.implies(high, w.no(w.true(c.after["arm_was_low"]))),
        w.implies(w.no(high), w.true(c.after["arm_was_low"])),
    )  # fmt: skip


def _stopping(c: Cycle) -> Term:
    """Return whether a ramp-out only goes on or ends, and its gain falls."""
    w, s = c.words, c.seen
    stop = w.any(
        w.no(w.lt(0.5, s["arm"])), w.no(w.lt(s["stop"], 0.5)), w.no(w.lt(s["own_stop"], 0.5))
    )
    was, falls = w.eq(c.before["state"], STOPPING), w.lt(c.after["gain"], c.before["gain"])
    ends = w.one_of(c.after["state"], STOPPING, INIT, FAULT)
    return w.all(
        w.implies(w.all(c.is_active(c.before), stop), ends),
        w.implies(was, ends),
        w.implies(
            w.all(was, w.true(c.before["tripped"])), w.one_of(c.after["state"], STOPPING, FAULT)
        ),
        w.implies(ends, w.any(falls, w.eq(c.after["gain"], 0.0))),
    )


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


def _keeps_torque(c: Cycle) -> Term:
    return c.words.all(*of_torque(c.words, c.limits, c.after))


def _keeps_time(c: Cycle) -> Term:
    return c.words.all(*of_time(c.words, c.limits, c.after))


def _defined(c: Cycle) -> Term:
    # conversions of a double are those of guard_passed_ns: `guard: elapsed`
    return c.words.needs(c.program, but="a double within")


def _begins(program: Program) -> Question:
    w, lim = Words(program.terms), program.symbols("GuardLimits", "limits")
    m = program.symbols("GuardMemory", "m")
    zero = {
        name: w.terms.real("0.0") if v.kind == "double" else w.terms.integer(0, v.kind)
        for name, v in m.items()
    }
    heartbeat = program.terms.fresh("int64_t", "heartbeat_ns")
    start = zero | {
        "good_cycle": w.terms.nan(),
        "request_age_ns": lim["max_request_age_ns"],
        "heartbeat_ns": heartbeat,
    }
    first = w.within(-LONGEST_NS - 1, heartbeat, -1)  # -heartbeat_timeout_ns - 1
    return Question([*limits_are_good(w, lim), first], w.all(*invariant(w, lim, start)), {})


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
    Property("guard: begins", SOURCE, "the memory of a new guard fulfils the invariant", _begins),
    _of_a_function("torque: toward", "goes to its target at most, by step_nm + half an ulp at most", "guard_toward"),
    _of_a_function("torque: gain", "within 0 and 1; rises when driven, falls in STOPPING, else 0", "guard_gain"),
    _of_a_cycle("guard: keeps torque", "a cycle keeps the invariant: state, torque, ramp", _keeps_torque),
    _of_a_cycle("guard: keeps time", "a cycle keeps the invariant: ages and buckets", _keeps_time),
    _of_a_cycle("guard: defined", "no overflow, no path without a return, contracts are kept", _defined),
    _of_a_cycle("guard: rest", "zero in INIT, READY and FAULT", _at_rest_is_zero),
    _of_a_cycle("guard: limit", "the output is finite and within its limit", _within_limit),
    _of_a_cycle("guard: slope", "changes by step_nm + half an ulp at most, but where SAFE drops it", _slope),
    _of_a_cycle("guard: entries", "comes to rest by SAFE, or within a step at the end of a ramp-out", _entries),
    _of_a_cycle("guard: hold", "in HOLD the output does not grow, and no request is taken", _hold),
    _of_a_cycle("guard: trips", "a finding ends the torque, at once or by a ramp-out that ends in FAULT", _trips),
    _of_a_cycle("guard: buckets", "a full bucket is a finding in the same cycle; none is ever above its top", _bucket),
    _of_a_cycle("guard: ages", "an age beyond its limit is a finding in the same cycle", _too_long),
    _of_a_cycle("guard: time", "all time counts, and what is bad gets older by it", _time),
    Property("guard: elapsed", SOURCE, "a gap that `elapsed` tells counts; its conversion is in range", _elapsed),
    _of_a_cycle("guard: inputs", "a bad value of a watched port is a finding, or the state is not RUNNING", _bad_input),
    _of_a_cycle("guard: arming", "torque begins only at a rising edge of arm with everything good", _arming),
    _of_a_cycle("guard: ramp-out", "a ramp-out only ends at rest, and its gain falls", _stopping),
    _of_a_cycle("reach: reached", "a fault that reaches a guard ends its torque or keeps it unfit", _reach),
    _of_a_cycle("reach: calms", "with no cause of its own and arm low: FAULT to READY, whatever others show", _calms),
    Property("reach: takes along", SOURCE, "own causes reach others, those taken along reach nobody", _takes_along),
)  # fmt: skip
