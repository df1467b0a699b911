"""Laws of every cycle of a guard: they hold at the start, and each cycle keeps them, for any input at all."""

from __future__ import annotations

from bitwuzla import Kind, Term
from c_symbolic import Program
from guard_cycle import (
    BUCKETS,
    CONTRACTS,
    FAULT,
    HOLD,
    INIT,
    LAST_NS,
    LONGEST_NS,
    NONE,
    RAMP,
    READY,
    RUNNING,
    SAFE,
    SOURCE,
    STOPPING,
    Cycle,
    changes_by,
    invariant,
    limits_are_good,
    of_a_cycle,
    of_time,
    of_torque,
    top_of,
)
from products import sum_laws
from prover import Property, Question, Words
from terms import Value


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


PROPERTIES = (
    Property("guard: begins", SOURCE, "the memory of a new guard fulfils the invariant", _begins),
    _of_a_function("torque: toward", "goes to its target at most, by step_nm + half an ulp at most", "guard_toward"),
    _of_a_function("torque: gain", "within 0 and 1; rises when driven, falls in STOPPING, else 0", "guard_gain"),
    of_a_cycle("guard: keeps torque", "a cycle keeps the invariant: state, torque, ramp", _keeps_torque),
    of_a_cycle("guard: keeps time", "a cycle keeps the invariant: ages and buckets", _keeps_time),
    of_a_cycle("guard: defined", "no overflow, no path without a return, contracts are kept", _defined),
    of_a_cycle("guard: rest", "zero in INIT, READY and FAULT", _at_rest_is_zero),
    of_a_cycle("guard: limit", "the output is finite and within its limit", _within_limit),
    of_a_cycle("guard: slope", "changes by step_nm + half an ulp at most, but where SAFE drops it", _slope),
    of_a_cycle("guard: entries", "comes to rest by SAFE, or within a step at the end of a ramp-out", _entries),
    of_a_cycle("guard: hold", "in HOLD the output does not grow, and no request is taken", _hold),
    of_a_cycle("guard: trips", "a finding ends the torque, at once or by a ramp-out that ends in FAULT", _trips),
    of_a_cycle("guard: buckets", "a full bucket is a finding in the same cycle; none is ever above its top", _bucket),
    of_a_cycle("guard: ages", "an age beyond its limit is a finding in the same cycle", _too_long),
    of_a_cycle("guard: time", "all time counts, and what is bad gets older by it", _time),
    Property("guard: elapsed", SOURCE, "a gap that `elapsed` tells counts; its conversion is in range", _elapsed),
    of_a_cycle("guard: inputs", "a bad value of a watched port is a finding, or the state is not RUNNING", _bad_input),
    of_a_cycle("guard: arming", "torque begins only at a rising edge of arm with everything good", _arming),
    of_a_cycle("guard: ramp-out", "a ramp-out only ends at rest, and its gain falls", _stopping),
)  # fmt: skip
