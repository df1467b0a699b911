"""Assignments of expressions to straight-line code: shared parts named once, sums ordered by
arrival.

A sum is built like a Huffman tree over the times at which its terms are ready, with products fused
into the additions: on mechanisms of up to some thirty coordinates latency costs more than
operations.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from codegen.dag import Expr

# cycles on current x86 cores
LATENCY = {"mul": 4, "add": 4, "fma": 4, "div": 14, "sqrt": 18, "sincos": 60}
SINCOS_SLOTS = {"mul": 8, "add": 6, "fma": 18}
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
    """Floating-point work of straight-line code; `path` is the longest chain in cycles."""

    mul: int = 0
    add: int = 0
    fma: int = 0
    div: int = 0
    path: float = 0.0

    @property
    def slots(self) -> int:
        return self.mul + self.add + self.fma + self.div

    def plus(self, other: Cost, times: int = 1) -> Cost:
        """Work of this followed by `other`, `times` over."""
        return Cost(
            self.mul + times * other.mul,
            self.add + times * other.add,
            self.fma + times * other.fma,
            self.div + times * other.div,
            self.path + times * other.path,
        )

    def __str__(self) -> str:
        counts = f"{self.mul} mul, {self.add} add, {self.fma} fma, {self.div} div"
        return f"{counts}, path {self.path:.0f} cycles"


@dataclass(frozen=True)
class Syntax:
    """What differs between targets: declaration of a local, functions, choice."""

    declare: str
    function: Callable[[str, str], str]
    where: Callable[[str, str, str, str], str]
    sincos: Callable[[str, str, str], list[str]] | None


CYTHON = Syntax(
    "cdef double ",
    lambda name, a: f"{'fabs' if name == 'abs' else name}({a})",
    lambda a, b, then, other: f"({then} if {a} < {b} else {other})",
    lambda a, s, c: [f"cdef double {s}", f"cdef double {c}", f"sincos({a}, &{s}, &{c})"],
)
NUMPY = Syntax(
    "",
    lambda name, a: f"np.{name}({a})",
    lambda a, b, then, other: f"({then} if {a} < {b} else {other})",
    None,
)


@dataclass
class _Term:
    """A piece of a sum: text without sign; a product still waits for its addition to fuse into."""

    text: str
    negative: bool
    product: bool


@dataclass
class Emitter:
    """Turns one routine's assignments into lines.

    `bind` gives the text of each variable; `known` the text of expressions that another routine has
    stored.
    """

    syntax: Syntax
    bind: Mapping[Expr, str]
    known: Mapping[Expr, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    def run(self, assigns: Iterable[Assign]) -> tuple[list[str], Cost]:
        assigns = list(assigns)
        self._uses: dict[Expr, int] = {}
        self._done: dict[Expr, tuple[str, float]] = {}
        self._taken: set[str] = set()
        self._arrive: dict[Expr, float] = {}
        self._count(a.expr for a in assigns)
        label = ""
        for assign in assigns:
            if assign.label and assign.label != label:
                label = assign.label
                self.lines.append(f"# {label}")
            text, ready = self._root(assign.expr)
            self.cost.path = max(self.cost.path, ready)
            self.lines.append(f"{assign.target} = {_bare(text)}")
        return self.lines, self.cost

    def _root(self, e: Expr) -> tuple[str, float]:
        """As `_value`, but an expression that only this assignment uses needs no name."""
        if self._uses[e] > 1 or e in self._done or self._leaf(e) or e.op in ("sin", "cos"):
            return self._value(e)
        self._done[e] = self._compute(e)
        return self._done[e]

    def _leaf(self, e: Expr) -> bool:
        return e.op in ("const", "var") or e in self.known

    def _count(self, roots: Iterable[Expr]) -> None:
        stack = list(roots)
        for root in stack:
            self._uses[root] = self._uses.get(root, 0) + 1
        seen: set[Expr] = set()
        while stack:
            e = stack.pop()
            if e in seen or e in self.known:
                continue
            seen.add(e)
            for arg in e.args:
                self._uses[arg] = self._uses.get(arg, 0) + 1
                stack.append(arg)

    def _value(self, e: Expr) -> tuple[str, float]:
        """Text of `e` as an operand, and when it is ready; a shared one is named first."""
        if e in self._done:
            return self._done[e]
        if e in self.known:
            return self.known[e], 0.0
        if e.op == "const":
            return _number(e.value), 0.0
        if e.op == "var":
            return self._variable(e)
        if e.op in ("sin", "cos") and self.syntax.sincos:
            return self._sincos(e)
        text, ready = self._compute(e)
        if self._uses.get(e, 0) > 1 or len(text) > MAX_INLINE:
            trivial = e.op == "sum" and len(e.args) == 1 and self._leaf(e.args[0])
            if not (trivial and abs(e.coefs[0]) == 1.0):
                name = self._name(e)
                self.lines.append(f"{self.syntax.declare}{name} = {_bare(text)}")
                text = name
        self._done[e] = (text, ready)
        return self._done[e]

    def _variable(self, e: Expr) -> tuple[str, float]:
        text = self.bind[e]
        if self._uses.get(e, 0) > 1 and "[" in text:
            name = self._fresh(_identifier(e.name))
            self.lines.append(f"{self.syntax.declare}{name} = {text}")
            text = name
        self._done[e] = (text, 0.0)
        return self._done[e]

    def _sincos(self, e: Expr) -> tuple[str, float]:
        assert self.syntax.sincos is not None
        argument = e.args[0]
        text, ready = self._value(argument)
        stem = _identifier(argument.name or "angle")
        sine, cosine = self._fresh(f"sin_{stem}"), self._fresh(f"cos_{stem}")
        self.lines += self.syntax.sincos(text, sine, cosine)
        for key, slots in SINCOS_SLOTS.items():
            setattr(self.cost, key, getattr(self.cost, key) + slots)
        ready += LATENCY["sincos"]
        graph = e.graph
        self._done[graph.call("sin", argument)] = (sine, ready)
        self._done[graph.call("cos", argument)] = (cosine, ready)
        return self._done[e]

    def _compute(self, e: Expr) -> tuple[str, float]:
        if e.op == "sum":
            return self._sum(e)
        parts = [self._value(a) for a in e.args]
        ready = max(p[1] for p in parts)
        texts = [p[0] for p in parts]
        if e.op == "mul":
            self.cost.mul += 1
            return f"({texts[0]} * {texts[1]})", ready + LATENCY["mul"]
        if e.op == "inv":
            self.cost.div += 1
            return f"(1.0 / {texts[0]})", ready + LATENCY["div"]
        if e.op == "where":
            self.cost.add += 1
            return self.syntax.where(*texts), ready + LATENCY["add"]
        return self.syntax.function(e.op, texts[0]), ready + LATENCY.get(e.op, 1)

    def _sum(self, e: Expr) -> tuple[str, float]:
        heap: list[tuple[float, int, _Term]] = []
        for order, (coef, arg) in enumerate(zip(e.coefs, e.args, strict=True)):
            term, ready = self._term(coef, arg)
            heapq.heappush(heap, (ready, order, term))
        order = len(heap)
        while len(heap) > 1:
            first, second = heapq.heappop(heap), heapq.heappop(heap)
            joined, ready = self._join(first, second)
            heapq.heappush(heap, (ready, order, joined))
            order += 1
        ready, _, term = heap[0]
        if term.product:
            self.cost.mul += 1
            ready += LATENCY["mul"]
        if term.negative:
            return f"(-{term.text})", ready
        return (term.text if _bare(term.text) != term.text else f"({term.text})"), ready

    def _term(self, coef: float, arg: Expr) -> tuple[_Term, float]:
        size = abs(coef)
        if arg.is_const:
            return _Term(_number(size * arg.value), coef < 0.0, False), 0.0
        single = self._uses.get(arg, 0) <= 1 and arg not in self.known
        if size == 1.0 and arg.op == "mul" and single and arg not in self._done:
            (a, a_ready), (b, b_ready) = (self._value(x) for x in arg.args)
            if len(a) + len(b) <= MAX_INLINE:
                return _Term(f"{a} * {b}", coef < 0.0, True), max(a_ready, b_ready)
        text, ready = self._value(arg)
        if size == 1.0:
            return _Term(text, coef < 0.0, False), ready
        return _Term(f"{_number(size)} * {text}", coef < 0.0, True), ready

    def _join(self, first, second) -> tuple[_Term, float]:
        """Add two terms; at most one product fuses, the earlier of two is multiplied on its own."""
        a, b = first[2], second[2]
        a_ready, b_ready = first[0], second[0]
        if a.product and b.product:
            self.cost.mul += 1
            a_ready += LATENCY["mul"]
        if a.product or b.product:
            self.cost.fma += 1
        else:
            self.cost.add += 1
        ready = max(a_ready, b_ready) + LATENCY["fma"]
        left, right = (b, a) if a.negative and not b.negative else (a, b)
        if left.negative:
            text, negative = f"({left.text} + {right.text})", True
        else:
            sign = "-" if right.negative else "+"
            text, negative = f"({left.text} {sign} {right.text})", False
        if len(text) > MAX_LINE:
            name = self._fresh("part")
            self.lines.append(f"{self.syntax.declare}{name} = {_bare(text)}")
            text = name
        return _Term(text, negative, False), ready

    def _name(self, e: Expr) -> str:
        stem = e.graph.stems.get(e)
        if stem:
            return self._fresh(_identifier(stem))
        number = len(self._taken)
        while f"t{number}" in self._taken:
            number += 1
        return self._fresh(f"t{number}")

    def _fresh(self, name: str) -> str:
        candidate, number = name, 1
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate)
        return candidate


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name)


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
