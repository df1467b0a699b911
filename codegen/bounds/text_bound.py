"""The longest way through the text of a kernel: its rare branches, at singular poses and after lost cycles.

Of a choice the dearer side counts, of a loop its body as often as its limit says, of a call the whole function
(the timing schema of Shaw 1989, doi:10.1109/32.29487). Routines cost their operations and their own critical path,
one routine after the other; every other statement waits for the one before. So these bounds are far: they are for
cycles that hardly ever come, and say how long a task may then stand still.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codegen.bounds.machine import MachineCosts
from codegen.equations.program import Program
from codegen.expressions.emit import LATENCY
from codegen.targets.kernel_text import KernelText

FUNCTION = re.compile(
    r"^(?:static )?(?:inline |APART )*[\w*]+ \*?(\w+)\(([^;{}]*)\)\n\{\n", re.MULTILINE
)
TOKEN = re.compile(r"\s*(for\b|if\b|else\b|[{};()]|[^{};()]+?(?=\b(?:for|if|else)\b|[{};()]|$))")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LIMIT = re.compile(r"<=?\s*([\w*+. ]+)")
OPERATOR = re.compile(r"[-+*/<>=!?&|%]+|\[|->")
PASSED = re.compile(r"\baccelerate\([\w, ]+, (\d+)\)")
COUNTER = re.compile(r"\bint (\w+) =")
DOWN = re.compile(r"= ([^;]+);[^;]*;[^;]*--")
STRIDE = re.compile(r"\+= (\d+)")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*$")
ENUM = re.compile(r"^    ([A-Z_]+) = ([^,/]+?)(?:,|\s*//|$)", re.MULTILINE)
# limits that are not in the enum: names of parameters and locals, with what they are at most
LOCAL = {"parts": "MAX_PARTS", "count": "N_Q + N_PHI + N_INTERNAL + N_GUIDES"}


@dataclass
class _Reader:
    """Tokens of a function's body, and the cost of its parts."""

    tokens: list[str]
    limits: Mapping[str, int]
    slot_ns: float
    chain_ns: float  # a statement after the one that it waits for
    branch_ns: float
    costs: Mapping[str, float]
    at: int = 0
    counters: dict[str, int] = field(default_factory=dict)  # of loops outside of this one
    lacks: set[str] = field(default_factory=set)

    def block(self) -> float:
        """Cost of the statements up to the closing brace."""
        total = 0.0
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            total += self.statement()
        self.at += 1
        return total

    def statement(self) -> float:
        token = self.tokens[self.at]
        if token == "{":
            self.at += 1
            return self.block()
        if token == "for":
            self.at += 1
            cost, text = self.parentheses()
            times = self.times(text)
            if counter := COUNTER.search(text):
                self.counters[counter[1]] = times
            return (times + 1) * cost + self.branch_ns + times * self.statement()
        if token == "if":
            self.at += 1
            cost, _ = self.parentheses()
            then, other = self.statement(), 0.0
            if self.at < len(self.tokens) and self.tokens[self.at] == "else":
                self.at += 1
                other = self.statement()
            return cost + self.branch_ns + max(then, other)
        return self.simple()

    def simple(self) -> float:
        """Cost of a statement up to its semicolon; braces in it are lists of values."""
        total, depth, before = self.chain_ns, 0, ""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == ";" and depth == 0:
                self.at += 1
                break
            if token == "(":
                total += self.called(before)
            depth += (token == "{") - (token == "}")
            total += self.operators(token)
            before = token
            self.at += 1
        return total

    def parentheses(self) -> tuple[float, str]:
        """Cost and text of what stands in parentheses."""
        total, depth, before, text = 0.0, 0, "", ""
        while True:
            token = self.tokens[self.at]
            if token == "(":
                total += self.called(before)
            depth += (token == "(") - (token == ")")
            total += self.operators(token)
            text += token
            before = token
            self.at += 1
            if depth == 0:
                return total, text

    def operators(self, token: str) -> float:
        return self.slot_ns * len(OPERATOR.findall(token))

    def called(self, before: str) -> float:
        found = CALL.search(before)
        return self.costs.get(found[1], 0.0) if found else 0.0

    def times(self, text: str) -> int:
        condition = text.split(";")[1]
        if down := DOWN.search(text):
            # from the first value down to zero; what is taken off that value only makes it less
            most = self.limit(down[1].split(" - ")[0])
            if most is None:
                self.lacks.add(condition.strip())
            return (most or 0) + 1
        limits = [self.limit(found) for found in LIMIT.findall(condition)]
        known = [limit for limit in limits if limit is not None]
        if not known:
            self.lacks.add(condition.strip())
            return 0
        stride = STRIDE.search(text)
        return -(-(min(known) + ("<=" in condition)) // int(stride[1] if stride else 1))

    def limit(self, text: str) -> int | None:
        text = LOCAL.get(text.strip(), text)
        total = 0
        for term in text.split("+"):
            product = 1
            for factor in term.split("*"):
                word = factor.strip()
                if word.isdigit():
                    product *= int(word)
                elif word in self.limits or word in self.counters:
                    product *= max(0, self.limits.get(word, self.counters.get(word, 0)))
                else:
                    return None
            total += product
        return total


def longest_ways(made: Program, text: KernelText, costs: MachineCosts) -> dict[str, float]:
    """Compute the longest time of every function of a kernel beside its routines; ns.

    Raises
    ------
    ValueError
        A loop whose limit is not known.
    """
    source = COMMENT.sub("", text.filled("kernel.c.in"))
    for routines in text.fill["routines"].split("\n\n"):
        source = source.replace(COMMENT.sub("", routines), "")
    limits = _limits(text.fill["types"])
    limits["passes"] = max(map(int, PASSED.findall(source)), default=0)
    known = _routines(made, text, costs)
    lacks: set[str] = set()
    for name, body in _functions(source):
        if name in known:
            continue
        reader = _Reader(TOKEN.findall(body), limits, costs.slot, costs.fma, costs.branch, known)
        # callees stand before their callers in C
        known[name] = reader.block()
        lacks |= reader.lacks
    if lacks:
        raise ValueError(f"loops without a known limit: {', '.join(sorted(lacks))}")
    return known


def _limits(types: str) -> dict[str, int]:
    found: dict[str, int] = {}
    reader = _Reader([], found, 0.0, 0.0, 0.0, {})
    for name, value in ENUM.findall(types):
        negative = value.strip().startswith("-")
        number = reader.limit(value)
        found[name] = -1 if negative else number or 0
    return found


def _routines(made: Program, text: KernelText, costs: MachineCosts) -> dict[str, float]:
    slot = max(costs.slot, costs.picked) if made.is_large else costs.slot
    latencies = costs.latencies()
    found = {
        name: cost.slots * slot
        + cost.div * costs.side_div
        + text.routine_path(name, latencies, costs.memory)
        for name, cost in text.costs.items()
    }
    return found | {
        "sine_cosine": costs.sincos,
        "sqrt": costs.sqrt,
        "fabs": costs.add * LATENCY["add"] / LATENCY["mul"],
        "isfinite": costs.add,
    }


def _functions(source: str) -> Iterator[tuple[str, str]]:
    for found in FUNCTION.finditer(source):
        end = source.index("\n}\n", found.end() - 1)
        yield found[1], source[found.end() : end + 1] + "}"
