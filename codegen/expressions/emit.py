"""Assignments of expressions to straight-line code: shared parts named once, sums ordered by
arrival.

A sum is built like a Huffman tree over the times at which its terms are ready, with products fused
into the additions: on mechanisms of up to some thirty coordinates latency costs more than
operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from codegen.expressions.dag import Expr
from codegen.expressions.descent import Steps, descend
from codegen.expressions.sums import joined
from rig_configs.names import RESERVED
from rig_configs.plain import comment

# cycles on current x86 cores
LATENCY = {"mul": 4, "add": 4, "fma": 4, "div": 14, "sqrt": 18, "sincos": 60}
SINCOS_SLOTS = {"mul": 4, "add": 5, "fma": 16}  # operations of `sine_cosine` in the kernel's text
MAX_LINE = 80  # of a sum before it is broken up
MAX_INLINE = 56  # characters of an expression that still reads well inside another


@dataclass(frozen=True)
class Assign:
    """`target` becomes `expr`; `label` heads it as a comment where it changes."""

    target: str
    expr: Expr
    label: str = ""


@dataclass
class Cost:
    """Floating-point work of straight-line code; `path` is the longest chain in cycles.

    `sweep` counts operations in loops over whole arrays, which the compiler vectorises; `slots` has
    them too, one by one.
    """

    mul: int = 0
    add: int = 0
    fma: int = 0
    div: int = 0
    sweep: int = 0
    path: float = 0.0

    @property
    def slots(self) -> int:
        return self.mul + self.add + self.fma + self.div + self.sweep

    def plus(self, other: Cost, times: int = 1) -> Cost:
        """Work of this followed by `other`, `times` over."""
        return Cost(
            self.mul + times * other.mul,
            self.add + times * other.add,
            self.fma + times * other.fma,
            self.div + times * other.div,
            self.sweep + times * other.sweep,
            self.path + times * other.path,
        )

    def __str__(self) -> str:
        counts = f"{self.mul} mul, {self.add} add, {self.fma} fma, {self.div} div"
        sweep = f", {self.sweep} in sweeps" if self.sweep else ""
        return f"{counts}{sweep}, path {self.path:.0f} cycles"


@dataclass(frozen=True)
class Syntax:
    """Differences between targets: declaration of a local, end and comment of a line, functions,
    choice.
    """

    declare: str
    end: str
    comment: str
    function: Callable[[str, str], str]
    where: Callable[[str, str, str, str], str]
    sincos: Callable[[str, str, str], list[str]] | None


C = Syntax(
    "const double ",
    ";",
    "// ",
    lambda name, a: f"__builtin_{'fabs' if name == 'abs' else name}({a})",
    lambda a, b, then, other: f"({a} < {b} ? {then} : {other})",
    lambda a, s, c: [f"double {s}, {c};", f"sine_cosine({a}, &{s}, &{c});"],
)
NUMPY = Syntax(
    "",
    "",
    "# ",
    lambda name, a: f"np.{name}({a})",
    lambda a, b, then, other: f"({then} if {a} < {b} else {other})",
    None,
)


class Value(NamedTuple):
    """Text of an operand, the cycle at which it is ready, and its number in the data flow."""

    text: str
    ready: float
    flow: int


@dataclass
class Flow:
    """Dependences between operations: enough to find the critical path through several
    routines.
    """

    cells: dict[str, int] = field(default_factory=dict)  # array element -> number
    steps: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)  # latency, operands
    results: dict[str, int] = field(default_factory=dict)  # array element <- number
    repeats: dict[int, int] = field(default_factory=dict)  # number: operations like it, in a row

    def add(self, latency: float, operands: Iterable[int]) -> int:
        self.steps.append((latency, tuple(operands)))
        return len(self.steps) - 1

    def repeated(self, latency: float, operand: int, times: int) -> int:
        """Operations in a row, each of which waits for the one before."""
        number = self.add(latency, [operand])
        self.repeats[number] = times
        return number

    def cell(self, text: str) -> int:
        if text in self.results:
            return self.results[text]
        if text not in self.cells:
            self.cells[text] = self.add(0.0, ())
        return self.cells[text]

    def advance(
        self,
        ready: dict[str, float],
        rename: Mapping[str, str],
        latencies: Mapping[float, float],
        hop: float,
    ) -> None:
        """Let the routine run once: `ready` has the cycle at which each array element is known.

        `latencies` take the place of those here, and a value waits for `hop` on its way through memory.
        """
        at = [0.0] * len(self.steps)
        for text, number in self.cells.items():
            array, bracket, index = text.partition("[")
            place = rename.get(array, array) + bracket + index
            at[number] = ready[place] + hop if place in ready else 0.0
        for number, (latency, operands) in enumerate(self.steps):
            if operands:
                spent = self.repeats.get(number, 1) * latencies.get(latency, latency)
                at[number] = max(at[k] for k in operands) + spent
        for text, number in self.results.items():
            ready[text] = at[number]


@dataclass
class _Term:
    """A piece of a sum: text without sign; a product still waits for its addition to fuse into."""

    text: str
    negative: bool
    product: bool
    flow: int


@dataclass
class Emitter:
    """Turns one routine's assignments into lines.

    `bind` gives the text of each variable; `known` the text of expressions that another routine has
    stored; `ready` the cycle at which a place has its value, where that is not the start.
    """

    syntax: Syntax
    bind: Mapping[Expr, str]
    known: Mapping[Expr, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)
    flow: Flow = field(default_factory=Flow)
    ready: dict[str, float] = field(default_factory=dict)

    def run(self, assigns: Iterable[Assign]) -> tuple[list[str], Cost]:
        assigns = list(assigns)
        self._uses: dict[Expr, int] = {}
        self._done: dict[Expr, Value] = {}
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}  # name -> number of its last variant
        self._count([a.expr for a in assigns])
        label = ""
        for assign in assigns:
            if assign.label and assign.label != label:
                label = assign.label
                self.lines.append(f"{self.syntax.comment}{comment(label)}")
            value = descend(self._root(assign.expr))
            self.cost.path = max(self.cost.path, value.ready)
            self.flow.results[assign.target] = value.flow
            self.ready[assign.target.split()[-1]] = value.ready
            self.lines.append(f"{assign.target} = {_bare(value.text)}{self.syntax.end}")
        return self.lines, self.cost

    def _root(self, e: Expr) -> Steps[Value]:
        """As `_value`, but an expression that only this assignment uses needs no name."""
        if self._uses.get(e, 0) > 1 or e in self._done or self._leaf(e) or e.op in ("sin", "cos"):
            return (yield self._value(e))
        self._done[e] = yield self._compute(e)
        return self._done[e]

    def _leaf(self, e: Expr) -> bool:
        return e.op in ("const", "var") or e in self.known

    def _count(self, roots: list[Expr]) -> None:
        """Uses of each node. A product whose only uses are sums is fused into each of them."""
        pending: dict[Expr, list[Expr]] = {}  # products met in sums so far -> factors to count
        times: dict[Expr, int] = {}
        seen: set[Expr] = set()
        stack: list[Expr] = []

        def use(e: Expr) -> None:
            self._uses[e] = self._uses.get(e, 0) + 1
            if e not in seen and not self._leaf(e):
                seen.add(e)
                stack.append(e)

        for root in roots:
            use(root)
        while stack or pending:
            if not stack:
                # nothing else uses these: count their factors once a sum
                product, factors = pending.popitem()
                seen.add(product)
                for _ in range(times[product]):
                    for factor in factors:
                        use(factor)
                continue
            e = stack.pop()
            if e.op == "mul":
                pending.pop(e, None)
            for coef, arg in zip(e.coefs or (0.0,) * len(e.args), e.args, strict=True):
                fusable = abs(coef) == 1.0 and arg.op == "mul" and arg not in self.known
                if not fusable:
                    use(arg)
                elif arg in seen and arg not in pending:
                    if self._uses.get(arg, 0) == 0:
                        for factor in arg.args:
                            use(factor)
                else:
                    times[arg] = times.get(arg, 0) + 1
                    pending[arg] = list(arg.args)

    def _value(self, e: Expr) -> Steps[Value]:
        """`e` as an operand; a shared one is named first."""
        if e in self._done:
            return self._done[e]
        if e in self.known:
            return Value(self.known[e], 0.0, self.flow.cell(self.known[e]))
        if e.op == "const":
            return Value(_number(e.value), 0.0, self.flow.cell("constant"))
        if e.op == "var":
            return self._variable(e)
        if e.op in ("sin", "cos") and self.syntax.sincos:
            return (yield self._sincos(e))
        value = yield self._compute(e)
        if self._uses.get(e, 0) > 1 or len(value.text) > MAX_INLINE:
            trivial = e.op == "sum" and len(e.args) == 1 and self._leaf(e.args[0])
            if not (trivial and abs(e.coefs[0]) == 1.0):
                name = self._name(e)
                self._let(name, value.text)
                value = value._replace(text=name)
        self._done[e] = value
        return value

    def _short(self, e: Expr) -> Steps[Value]:
        """As `_value`, named if its text would make a product unreadable."""
        value = yield self._value(e)
        if len(value.text) <= MAX_INLINE // 2 or self._leaf(e):
            return value
        self._done[e] = value._replace(text=self._name(e))
        self._let(self._done[e].text, value.text)
        return self._done[e]

    def _let(self, name: str, text: str) -> None:
        self.lines.append(f"{self.syntax.declare}{name} = {_bare(text)}{self.syntax.end}")

    def _variable(self, e: Expr) -> Value:
        text = self.bind[e]
        flow = self.flow.cell(text)
        if self._uses.get(e, 0) > 1 and "[" in text:
            name = self._fresh(_identifier(e.name))
            self._let(name, text)
            text = name
        self._done[e] = Value(text, self.ready.get(self.bind[e], 0.0), flow)
        return self._done[e]

    def _sincos(self, e: Expr) -> Steps[Value]:
        assert self.syntax.sincos is not None
        argument = e.args[0]
        text, ready, flow = yield self._value(argument)
        stem = _identifier(argument.name or "angle")
        sine, cosine = self._fresh(f"sin_{stem}"), self._fresh(f"cos_{stem}")
        self.lines += self.syntax.sincos(text, sine, cosine)
        for key, slots in SINCOS_SLOTS.items():
            setattr(self.cost, key, getattr(self.cost, key) + slots)
        ready += LATENCY["sincos"]
        both = self.flow.add(LATENCY["sincos"], [flow])
        graph = e.graph
        self._done[graph.call("sin", argument)] = Value(sine, ready, both)
        self._done[graph.call("cos", argument)] = Value(cosine, ready, both)
        return self._done[e]

    def _compute(self, e: Expr) -> Steps[Value]:
        if e.op == "sum":
            return (yield self._sum(e))
        parts: list[Value] = []
        for a in e.args:
            parts.append((yield self._value(a)))
        texts = [p.text for p in parts]
        if e.op == "mul":
            self.cost.mul += 1
            text, latency = f"({texts[0]} * {texts[1]})", LATENCY["mul"]
        elif e.op == "inv":
            self.cost.div += 1
            text, latency = f"(1.0 / {texts[0]})", LATENCY["div"]
        elif e.op == "where":
            self.cost.add += 1
            text, latency = self.syntax.where(*texts), LATENCY["add"]
        else:
            text, latency = self.syntax.function(e.op, texts[0]), LATENCY.get(e.op, 1)
        flow = self.flow.add(latency, [p.flow for p in parts])
        return Value(text, max(p.ready for p in parts) + latency, flow)

    def _sum(self, e: Expr) -> Steps[Value]:
        terms, ready = [], []
        for coef, arg in zip(e.coefs, e.args, strict=True):
            term, at = yield self._term(coef, arg)
            terms.append(term)
            ready.append(at)
        pairs, _, _ = joined([(at, t.product) for at, t in zip(ready, terms, strict=True)])
        for i, j in pairs:
            term, at = self._join((ready[i], terms[i]), (ready[j], terms[j]))
            terms.append(term)
            ready.append(at)
        term, at, flow = terms[-1], ready[-1], terms[-1].flow
        if term.product:
            self.cost.mul += 1
            at += LATENCY["mul"]
            flow = self.flow.add(LATENCY["mul"], [flow])
        if term.negative:
            return Value(f"(-{term.text})", at, flow)
        text = term.text if _bare(term.text) != term.text else f"({term.text})"
        return Value(text, at, flow)

    def _term(self, coef: float, arg: Expr) -> Steps[tuple[_Term, float]]:
        size, negative = abs(coef), coef < 0.0
        if arg.is_const:
            number = _number(size * arg.value)
            return _Term(number, negative, False, self.flow.cell("constant")), 0.0
        fused = self._uses.get(arg, 0) == 0 and arg not in self.known
        if size == 1.0 and arg.op == "mul" and fused:
            a = yield self._short(arg.args[0])
            b = yield self._short(arg.args[1])
            flow = self.flow.add(0.0, [a.flow, b.flow])
            return _Term(f"{a.text} * {b.text}", negative, True, flow), max(a.ready, b.ready)
        text, ready, flow = yield self._value(arg)
        if size == 1.0:
            return _Term(text, negative, False, flow), ready
        return _Term(f"{_number(size)} * {text}", negative, True, flow), ready

    def _join(self, first: tuple[float, _Term], second: tuple[float, _Term]) -> tuple[_Term, float]:
        """Add two terms; at most one product fuses, the earlier of two is multiplied on its own."""
        (a_ready, a), (b_ready, b) = first, second
        a_flow = a.flow
        if a.product and b.product:
            self.cost.mul += 1
            a_ready += LATENCY["mul"]
            a_flow = self.flow.add(LATENCY["mul"], [a_flow])
        if a.product or b.product:
            self.cost.fma += 1
        else:
            self.cost.add += 1
        ready = max(a_ready, b_ready) + LATENCY["fma"]
        flow = self.flow.add(LATENCY["fma"], [a_flow, b.flow])
        left, right = (b, a) if a.negative and not b.negative else (a, b)
        if left.negative:
            text, negative = f"({left.text} + {right.text})", True
        else:
            sign = "-" if right.negative else "+"
            text, negative = f"({left.text} {sign} {right.text})", False
        if len(text) > MAX_LINE:
            name = self._fresh("part")
            self._let(name, text)
            text = name
        return _Term(text, negative, False, flow), ready

    def _name(self, e: Expr) -> str:
        stem = e.graph.stems.get(e)
        if stem:
            return self._fresh(_identifier(stem))
        number = len(self._taken)
        while f"t{number}" in self._taken:
            number += 1
        return self._fresh(f"t{number}")

    def _fresh(self, name: str) -> str:
        candidate, number = name, self._last.get(name, 1)
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._last[name] = number
        self._taken.add(candidate)
        return candidate


def _identifier(name: str) -> str:
    """A local's name; the numbers of coordinates, `Q_<name>`, are not for locals."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII)
    return f"v_{plain}" if plain.startswith("Q_") or plain in RESERVED else plain


def _number(value: float) -> str:
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


def _bare(text: str) -> str:
    """Without the outermost parentheses, when they enclose the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[1:-1] if index == len(text) - 1 else text
    return text
