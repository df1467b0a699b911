"""Laws of the bus and of a drive: no torque unless all is good, and the leaky bucket."""

from __future__ import annotations

from collections.abc import Callable

from bitwuzla import Kind, Term
from c_symbolic import Program
from products import products_of_halves, steps_of_doubles, sums_of_halves
from prover import Property, Question, Words
from terms import Terms, Value

ENABLE, FAULT, BUCKET = (
    "io_bridge/slaves/enable_rule.h", "io_bridge/slaves/bus_fault.h", "rt_core/safety/bucket.h",
)  # fmt: skip
OPERATION_ENABLED, FAULT_REACTION, DRIVE_FAULT, MOST_STATES = 4, 6, 7, 8
SWITCHED_ON = 3
ENABLE_BITS = 0x000F
MOST_NS = 2**61


class Command:
    """One command of one drive through the rule, as `pack` and `drive_pack` call it."""

    def __init__(self, program: Program) -> None:
        self.words = w = Words(program.terms)
        flags = ("safe", "kept", "clock_on", "clock_was_locked", "in_service", "fault", "bus_held", "drive_held",
                 "is_shown", "reset", "stops")  # fmt: skip
        self.flags = {name: program.terms.fresh("int", name) for name in flags}
        self.modes = {name: program.terms.fresh("int", name) for name in ("shown", "asked")}
        self.state = program.terms.fresh("int", "state")
        self.reals = {
            name: program.terms.fresh("double", name)
            for name in ("enable", "command", "permille_per_nm", "peak_permille")
        }
        f, r, call = self.flags, self.reals, program.call
        allowed = call("bus_allows", f["safe"], f["kept"], f["clock_on"], f["clock_was_locked"])
        live = call("bus_is_live", f["in_service"], f["fault"])
        self.enabled = call(
            "drive_is_enabled",
            call("drive_is_allowed", allowed, f["bus_held"], f["drive_held"]),
            call("drive_is_in_mode", f["is_shown"], self.modes["shown"], self.modes["asked"]),
            r["enable"],
        )
        moves = w.true(call("drive_may_move", self.enabled, live, self.state, r["command"]))
        wish = call("drive_wish", self.enabled, f["stops"])
        self.control = call("cia402_control", self.state, wish, f["reset"])
        # put_target is called with the command where it may move, and with 0 elsewhere
        permille = program.terms.ite(
            moves, call("drive_permille", r["command"], r["permille_per_nm"], r["peak_permille"]).term,
            program.terms.real("0.0").term,
        )  # fmt: skip
        self.word = call("drive_torque_word", Value("double", permille))
        self.needs = w.needs(program)
        self.moves = moves

    def in_mode(self) -> Term:
        w = self.words
        return w.any(
            w.no(w.true(self.flags["is_shown"])), w.eq(self.modes["shown"], self.modes["asked"])
        )

    def allowed(self) -> Term:
        """Return whether bus and mode let the drive be enabled."""
        w, f = self.words, self.flags
        free = (w.no(w.true(f[name])) for name in ("safe", "kept", "bus_held", "drive_held"))
        clock = w.any(w.no(w.true(f["clock_on"])), w.true(f["clock_was_locked"]))
        return w.all(*free, clock, self.in_mode())

    def good(self) -> Term:
        w, f, r = self.words, self.flags, self.reals
        bus = w.all(w.true(f["in_service"]), w.no(w.true(f["fault"])), self.allowed())
        command = w.all(w.lt(0.5, r["enable"]), w.finite(r["command"]))
        return w.all(bus, command, w.eq(self.state, OPERATION_ENABLED))

    def assumed(self) -> list[Term]:
        w, r = self.words, self.reals
        whole = w.same(
            r["peak_permille"],
            Value("double", w.terms.of(Kind.FP_RTI, w.terms.down, r["peak_permille"].term)),
        )
        return [
            w.within(0, self.state, MOST_STATES), w.finite(r["permille_per_nm"]),
            w.within(0.0, r["peak_permille"], 32767.0), whole,
        ]  # fmt: skip

    def shown(self) -> dict[str, Value]:
        return (
            self.flags
            | self.modes
            | self.reals
            | {"state": self.state, "word": self.word, "control": self.control}
        )


def _of_a_command(name: str, words: str, goal: Callable[[Command], Term]) -> Property:
    def ask(program: Program) -> Question:
        command = Command(program)
        return Question(command.assumed(), goal(command), command.shown())

    return Property(name, ENABLE, words, ask)


def _no_torque(c: Command) -> Term:
    w = c.words
    return w.all(
        w.implies(w.ne(c.word, 0), c.good()),
        w.implies(c.moves, c.good()),
        w.implies(c.good(), c.moves),
    )


def _within_peak(c: Command) -> Term:
    w = c.words
    word = w.terms.cast(c.word, "double")
    return w.le(w.size(word), c.reals["peak_permille"])


def _enabling(c: Command) -> Term:
    """Return whether the bits that enable operation leave only to a drive that was asked for, and from two states."""
    w = c.words
    control = w.terms.cast(c.control, "int")
    bits = Value("int", w.terms.of(Kind.BV_AND, control.term, w.terms.integer(ENABLE_BITS).term))
    enables = w.eq(bits, ENABLE_BITS)
    return w.all(
        w.implies(
            enables,
            w.all(
                c.allowed(),
                w.lt(0.5, c.reals["enable"]),
                w.one_of(c.state, SWITCHED_ON, OPERATION_ENABLED),
            ),
        ),
        w.implies(w.eq(control, 0x80), w.all(w.eq(c.state, DRIVE_FAULT), w.true(c.flags["reset"]))),
        # off and stop leave operation, whatever the state
        w.implies(w.no(w.true(c.enabled)), w.no(enables)),
    )


def _defined(c: Command) -> Term:
    return c.needs


def _held(program: Program) -> Question:
    """A command that a wrong mode ends, or a fault that its guard sees, holds the drive; else nothing does."""
    w = Words(program.terms)
    names = ("held", "moved", "in_mode", "has_own_guard", "state")
    v = {name: program.terms.fresh("int", name) for name in names}
    held = w.true(program.call("drive_is_held", *v.values()))
    was, moved, in_mode, guarded = (w.true(v[name]) for name in names[:4])
    fault = w.all(guarded, w.le(FAULT_REACTION, v["state"]))
    ended = w.all(moved, w.any(w.no(in_mode), fault))
    goal = w.all(
        w.implies(was, held),
        w.implies(ended, held),
        w.implies(held, w.any(was, ended)),
        w.needs(program),
    )
    return Question([], goal, v)


def _decoding(program: Program) -> Question:
    """A statusword means operation enabled by the bits of CiA 402-2 alone: .... .... .01. 0111."""
    w = Words(program.terms)
    status = program.terms.fresh("uint16_t", "statusword")
    state = program.call("cia402_decode", status)
    wide = w.terms.cast(status, "int")
    bits = Value("int", w.terms.of(Kind.BV_AND, wide.term, w.terms.integer(0x6F).term))
    enabled = w.eq(bits, 0x27)
    goal = w.all(
        w.implies(w.eq(state, OPERATION_ENABLED), enabled),
        w.implies(enabled, w.eq(state, OPERATION_ENABLED)),
        w.within(0, state, MOST_STATES),
        w.needs(program),
    )
    return Question([], goal, {"statusword": status, "state": state})


def _bucket(program: Program) -> Question:
    w = Words(program.terms)
    level, pour, drain, top = (
        program.terms.fresh("int64_t", n) for n in ("level", "pour", "drain", "top")
    )
    after = program.call("bucket_after", level, pour, drain, top)
    goal = w.all(
        w.needs(program),
        w.within(0, after, top),
        w.implies(w.lt(0, pour), w.any(w.lt(level, after), w.eq(after, top))),
        w.implies(w.all(w.lt(0, pour), w.lt(after, top)),
                  w.eq(Value("int64_t", w.terms.of(Kind.BV_SUB, after.term, level.term)), pour)),
        w.implies(w.all(w.le(pour, 0), w.lt(0, level)), w.lt(after, level)),
        w.implies(w.all(w.le(pour, 0), w.lt(drain, level)),
                  w.eq(Value("int64_t", w.terms.of(Kind.BV_SUB, level.term, after.term)), drain)),
    )  # fmt: skip
    assumed = [
        w.within(0, level, top),
        w.within(0, top, MOST_NS),
        w.within(0, pour, MOST_NS),
        w.within(1, drain, MOST_NS),
    ]
    return Question(
        assumed, goal, {"level": level, "pour": pour, "drain": drain, "top": top, "after": after}
    )


def _bus_bucket(program: Program) -> Question:
    """With a full bucket the cycle has a fault; so the bucket is full only in cycles with one."""
    w = Words(program.terms)
    names = ("good", "of_slaves", "cause", "of_data", "before", "of_command")
    v = {name: program.terms.fresh("int", name) for name in names}
    level, brim = program.terms.fresh("int64_t", "level"), program.terms.fresh("int64_t", "brim")
    good = w.true(v["good"])
    lost = program.call("bus_is_lost", v["good"], level, brim)
    fault = program.call("bus_fault", v["good"], lost, v["of_slaves"], v["cause"], v["of_data"], v["before"],
                         v["of_command"])  # fmt: skip
    full = w.all(w.no(good), w.le(brim, level))
    lasting = w.all(w.ne(v["before"], 0), w.ne(v["before"], 7))
    kept = w.all(w.no(good), lasting)
    goal = w.all(
        w.implies(full, w.ne(fault, 0)),
        w.implies(w.ne(v["of_slaves"], 0), w.same(fault, v["of_slaves"])),
        w.implies(w.all(good, w.ne(v["of_data"], 0)), w.ne(fault, 0)),
        w.implies(w.ne(v["of_command"], 0), w.ne(fault, 0)),
        w.implies(kept, w.ne(fault, 0)),
        # and no fault without a finding
        w.implies(w.ne(fault, 0), w.any(w.ne(v["of_slaves"], 0), full, w.all(good, w.ne(v["of_data"], 0)), kept,
                                        w.ne(v["of_command"], 0))),
    )  # fmt: skip
    return Question([w.ne(v["cause"], 0)], goal, v | {"level": level, "brim": brim, "fault": fault})


def _burst(program: Program) -> Question:
    """A bucket that was fuller stays so; and the bad cycle that brings what a burst has poured to the brim has a fault.

    `poured` is what the cycles of a burst have poured into a bucket that was empty when it began: after n bad cycles
    in a row it is n leaks, or the brim.
    """
    w = Words(program.terms)
    level, poured, leak, brim = (
        program.terms.fresh("int64_t", n) for n in ("level", "poured", "leak", "brim")
    )
    names = ("good", "of_slaves", "cause", "of_data", "before", "of_command")
    v = {name: program.terms.fresh("int", name) for name in names}
    after = program.call("bus_level_after", v["good"], level, leak, brim)
    poured_after = program.call("bus_level_after", v["good"], poured, leak, brim)
    lost = program.call("bus_is_lost", v["good"], after, brim)
    fault = program.call("bus_fault", v["good"], lost, v["of_slaves"], v["cause"], v["of_data"], v["before"],
                         v["of_command"])  # fmt: skip
    bad = w.no(w.true(v["good"]))
    more = Value("int64_t", w.terms.of(Kind.BV_ADD, poured.term, leak.term))
    less = Value(
        "int64_t", w.terms.of(Kind.BV_SUB, poured.term, w.terms.integer(1, "int64_t").term)
    )
    goal = w.all(
        w.needs(program),
        w.le(poured_after, after),
        w.within(0, poured_after, brim),
        w.implies(bad, w.any(w.eq(poured_after, more), w.eq(poured_after, brim))),
        w.implies(w.no(bad), w.le(less, poured_after)),
        w.implies(w.all(bad, w.le(brim, more)), w.ne(fault, 0)),
    )
    assumed = [
        w.within(0, poured, level), w.le(level, brim), w.within(1, leak, brim), w.le(brim, MOST_NS),
        w.ne(v["cause"], 0),
    ]  # fmt: skip
    shown = v | {"level": level, "poured": poured, "leak": leak, "brim": brim, "after": after}
    return Question(assumed, goal, shown)


def _law(name: str, words: str, law: Callable[[Terms], Term]) -> Property:
    return Property(name, "", words, lambda program: Question([], law(program.terms), {}))


PROPERTIES = (
    _law("floats: products", "the laws of products and quotients, of halves", products_of_halves),
    _law(
        "floats: sums",
        "a step shorter than the way stays before its end, of halves",
        sums_of_halves,
    ),
    _law("floats: steps", "a step does not go backwards, of doubles", steps_of_doubles),
    Property(
        "bucket: level",
        BUCKET,
        "fills by what is poured, drains by a period, is never above its top",
        _bucket,
    ),
    Property(
        "bus: bucket",
        FAULT,
        "a full bucket is a fault of that cycle; a fault stays while nothing is seen",
        _bus_bucket,
    ),
    Property(
        "bus: burst",
        FAULT,
        "bad_limit bad cycles in a row are a fault in the last of them, whatever came before",
        _burst,
    ),
    _of_a_command(
        "drive: torque",
        "no torque unless drive state, drive mode, bus and command are good",
        _no_torque,
    ),
    _of_a_command(
        "drive: peak",
        "the word of 0x6071 is within the peak",
        _within_peak,
    ),
    _of_a_command(
        "drive: enabling",
        "no controlword enables a drive unless bus, mode and command allow it",
        _enabling,
    ),
    _of_a_command(
        "drive: defined",
        "conversions and indices of a command are in range, from its flags to its word",
        _defined,
    ),
    Property(
        "drive: held",
        ENABLE,
        "a command that a wrong mode or a fault ends does not act again by itself",
        _held,
    ),
    Property("drive: state", ENABLE, "operation enabled is read from its bits alone", _decoding),
)
