"""The order of a step, stated once: its C text and what it costs are read off the same list.

The NumPy twin is written by hand beside it, in the dense formulas of the method: it is what the C text is checked by,
so it follows from nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from codegen.equations.program import Sweep

Rounds = Literal["all", "first", "between"]


@dataclass(frozen=True)
class Call:
    """A routine, or a function whose own order is `body`.

    Attributes
    ----------
    name, passed : str
        The function in C and its arguments.
    weight : str
        Of a factorisation: the weight that it takes, which its cost depends on.
    rounds : "all", "first" or "between"
        Of a `Repeat`: the rounds with this call; "between" leaves out the last one.
    body : sequence of Step
        The order of a function that is no routine.
    """

    name: str
    passed: str = "w, s"
    weight: str = ""
    rounds: Rounds = "all"
    body: Sequence[Step] = ()


@dataclass(frozen=True)
class Update:
    """`target` becomes, or with `adds` grows by, a sum of (coefficient, array): element by element."""

    target: str
    terms: tuple[tuple[str, str], ...]
    adds: bool = True

    @property
    def slots(self) -> int:
        return len(self.terms) - (not self.adds)


@dataclass(frozen=True)
class Each:
    """A loop over coordinates ("q") or rows ("phi")."""

    size: Literal["q", "phi"]
    updates: tuple[Update, ...]


@dataclass(frozen=True)
class Lines:
    """C as it is, with the sweeps that it costs."""

    lines: tuple[str, ...]
    sweeps: tuple[Sweep, ...] = ()


@dataclass(frozen=True)
class Repeat:
    """`body` for `times` rounds; in C they are counted by `counter` up to `limit`."""

    counter: str
    times: int
    limit: str
    body: Sequence[Step]


Step = Call | Each | Lines | Repeat


def factorise(weight: str, rounds: Rounds = "all") -> Call:
    """The factorisation of one of the weights."""
    return Call("factorise", f"w, w->weight_{weight}", weight, rounds)


def solved(array: str) -> tuple[Call, Each]:
    """The linear system, and its solution added to an array of the state."""
    return Call("solve", "w"), moved(array)


def moved(array: str, coefficient: str = "") -> Each:
    """The solution of the linear system, times a coefficient, added to an array."""
    return Each("q", (Update(array, ((coefficient, "w->x"),)),))


def lines(*text: str) -> Lines:
    """C that costs nothing to speak of: comments, inputs, counters."""
    return Lines(text)


def counted(steps: Iterable[Step]) -> list[str | Sweep]:
    """The order of `Program.calls`: each routine and each sweep as often as it is run."""
    found: list[str | Sweep] = []
    for step in steps:
        if isinstance(step, Repeat):
            for number in range(step.times):
                last = number + 1 == step.times
                left_out = {"first": number > 0, "between": last, "all": False}
                found += counted(
                    inner
                    for inner in step.body
                    if not (isinstance(inner, Call) and left_out[inner.rounds])
                )
        elif isinstance(step, Each):
            found += [_sweep(step.size, update) for update in step.updates if update.slots]
        elif isinstance(step, Lines):
            found += step.sweeps
        elif step.body:
            found += counted(step.body)
        else:
            found.append(f"{step.name} {step.weight}".strip())
    return found


def _sweep(size: str, update: Update) -> Sweep:
    # an array of the step's start is the one of the state that was written last
    reads = [array.replace("s0->", "s->") for _, array in update.terms]
    if update.adds:
        reads.insert(0, update.target)
    return Sweep(size, reads, [update.target], update.slots)


def spelled(steps: Iterable[Step], *, within: str = "") -> list[str]:
    """The order in C; `within` is the counter of the loop that holds it."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, Repeat):
            found.append(
                f"for (int {step.counter} = 0; {step.counter} < {step.limit}; {step.counter}++) {{"
            )
            found += [
                f"    {line}" for line in spelled(step.body, within=f"{step.counter}/{step.limit}")
            ]
            found.append("}")
        elif isinstance(step, Each):
            found += _loop(step)
        elif isinstance(step, Lines):
            found += step.lines
        else:
            found += _call(step, within)
    return found


def _call(call: Call, within: str) -> list[str]:
    text = f"{call.name}({call.passed});"
    counter, _, limit = within.partition("/")
    if call.rounds == "first":
        return [f"if ({counter} == 0)", f"    {text}"]
    if call.rounds == "between":
        return [f"if ({counter} + 1 < {limit})", f"    {text}"]
    return [text]


def _loop(each: Each) -> list[str]:
    body = []
    for update in each.updates:
        total = " + ".join(f"{c} * {array}[i]" if c else f"{array}[i]" for c, array in update.terms)
        body.append(f"    {update.target}[i] {'+=' if update.adds else '='} {total};")
    head = f"for (int i = 0; i < N_{each.size.upper()}; i++)"
    return [head, *body] if len(body) == 1 else [f"{head} {{", *body, "}"]


def function(head: str, steps: Iterable[Step]) -> str:
    """A function of the kernel's text."""
    text = spelled(steps)
    if not any(line and not line.startswith("//") for line in text):
        text.append("(void)w, (void)s;")
    body = "".join(f"    {line}\n" for line in text)
    return f"static void {head}\n{{\n{body}}}\n"
