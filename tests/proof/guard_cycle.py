"""A cycle of a guard over symbols, from any memory that fulfils the invariant; its preconditions and contracts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bitwuzla import Kind, Term
from c_symbolic import Contract, Program, Struct, copied
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


def changes_by(w: Words, old: Value, new: Value, step: Value) -> Term:
    """Return whether the exact change is at most `step` and half a unit in the last place of the larger of it and new.

    Rounding moves old + step, or the difference of new and old, by no more than half a unit of what comes out.
    """
    within = w.le(w.size(w.difference(new, old)), step)
    return w.any(within, w.same(new, w.sum(old, step)), w.same(new, w.difference(old, step)))


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


def of_a_cycle(name: str, words: str, goal: Goal) -> Property:
    def ask(program: Program) -> Question:
        cycle = Cycle(program)
        return Question(cycle.assumed(), goal(cycle), cycle.shown())

    return Property(name, SOURCE, words, ask, contracts=CONTRACTS)
