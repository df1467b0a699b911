"""Long irregular routines as generic loops over index tables: text that does not grow at all.

Where the parts of a mechanism differ from each other, `codegen.expressions.roll` finds little to repeat. Here
each assignment is a row of terms (see `codegen.expressions.gather`), and one loop carries out all consecutive
assignments into the same array:

    for (int k = 0; k < 90; k++) {
        double sum = w->phi[k];
        for (int t = FROM[k]; t < FROM[k + 1]; t++)
            sum += w->phi_q[AT[t][0]] * s->qd[AT[t][1]];
        w->phi_dot[k] = sum;
    }

Assignments that depend on each other in many stages, such as a factorisation (entries of a column,
its pivot, the quotients, the next column), keep their order: an outer loop goes through the stages.
Two to three times slower than straight-line text, in a hundredth of its length.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.expressions.dag import Expr
from codegen.expressions.emit import LATENCY, Assign, Cost, Flow
from codegen.expressions.gather import PART, Gather, Gatherer, Term, by_level
from codegen.expressions.index_tables import begins, columns, static_table

GROUPS = 24  # loops up to which they stand one after the other
MANY = 4  # terms of a sum, in the mean, from which on it is added in several parts
AT_ONCE = 4  # such parts
PERMUTED = 4  # forms of which every order is tried

Form = tuple[str, bool]
Kind = tuple[tuple[str, ...], str]  # arrays of the factors; "+", "-", or "c" times a number


@dataclass
class Tabled:
    """A routine as loops: its static tables, its lines in blocks of their own, its work, and what of
    it is not a sum of products.
    """

    tables: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)
    flow: Flow = field(default_factory=Flow)
    rest: list[Assign] = field(default_factory=list)


def tabled(
    name: str,
    assigns: list[Assign],
    bind: Mapping[Expr, str],
    known: Mapping[Expr, str],
    places: Mapping[str, int],
    *,
    is_ordered: bool,
) -> Tabled | None:
    """A routine over index tables; None for an ordered one that is not sums of products throughout."""
    found = Gatherer(assigns, bind, known, places)
    if not found.made or (found.rest and is_ordered):
        return None
    gathers = by_level(found.made)
    groups = _groups(gathers)
    is_staged = len(groups) > GROUPS
    if is_staged:
        gathers = found.made
        groups = _groups(gathers)
    made = Tabled(flow=_flow(gathers), rest=found.rest)
    ready: dict[str, float] = {}
    made.flow.advance(ready, {}, {}, 0.0)
    made.cost.path = max(ready.values())
    if found.parts:
        made.lines.append(f"double {PART}[{found.parts}];")
    if is_staged:
        _stages(name, groups, made)
    else:
        for number, group in enumerate(groups):
            head = f"for (int k = 0; k < {len(group)}; k++) {{"
            made.lines += [head, *_body(f"{name}_{number}", group, made), "}"]
    return made


def _groups(gathers: list[Gather]) -> list[list[Gather]]:
    return [list(group) for _, group in itertools.groupby(gathers, key=lambda g: g.form)]


def _stages(name: str, groups: list[list[Gather]], made: Tabled) -> None:
    """Groups in a cycle of forms, some empty, in an outer loop."""
    forms = list(dict.fromkeys(group[0].form for group in groups))
    sequence = [group[0].form for group in groups]
    orders = itertools.permutations(forms) if len(forms) <= PERMUTED else [tuple(forms)]
    cycle = min(orders, key=lambda order: _placed(sequence, order)[-1])
    stage_of = _placed(sequence, cycle)
    stages = stage_of[-1] + 1
    made.lines.append(f"for (int stage = 0; stage < {stages}; stage++) {{")
    for number, form in enumerate(cycle):
        mine = [(s, g) for s, g in zip(stage_of, groups, strict=True) if g[0].form == form]
        sizes = [0] * stages
        for stage, group in mine:
            sizes[stage] = len(group)
        begin = begins(f"STAGE_{name}_{number}", sizes, "stage", made.tables)
        members = [gather for _, group in mine for gather in group]
        made.lines += [
            f"    for (int k = {begin[0]}; k < {begin[1]}; k++) {{",
            *(f"    {line}" for line in _body(f"{name}_{number}", members, made)),
            "    }",
        ]
    made.lines.append("}")


def _placed(sequence: list[Form], cycle: tuple[Form, ...]) -> list[int]:
    """Stage of each group when every stage has the forms of `cycle` at most once, in this order."""
    number = {form: n for n, form in enumerate(cycle)}
    stages: list[int] = []
    stage, last = 0, -1
    for form in sequence:
        if number[form] <= last:
            stage += 1
        last = number[form]
        stages.append(stage)
    return stages


def _body(name: str, gathers: list[Gather], made: Tabled) -> list[str]:
    """Lines of one pass `k` over gathers of the same form."""
    kinds: dict[Kind, list[list[Term]]] = {}
    for k, gather in enumerate(gathers):
        for term in gather.terms:
            kind = _kind(term)
            if kind not in kinds:
                kinds[kind] = [[] for _ in gathers]
            kinds[kind][k].append(term)
    # a term that is always there is where the sum begins
    single = [kind for kind, rows in kinds.items() if all(len(row) == 1 for row in rows)]
    order = sorted(kinds, key=lambda kind: (kind not in single, kind[1] == "-"))
    lines: list[str] = []
    for number, kind in enumerate(order):
        rows = kinds[kind]
        is_first = number == 0 and kind in single
        _count(made.cost, kind, sum(map(len, rows)), is_first=is_first)
        of = f"{name}_{number}"
        counter = "k" if kind in single else "t"
        text = _product(of, kind, [term for row in rows for term in row], counter, made)
        sign = "-" if kind[1] == "-" else "+"
        if kind in single:
            if number == 0:
                lines.append(f"double sum = {'-' if sign == '-' else ''}{text};")
            else:
                lines.append(f"sum {sign}= {text};")
            continue
        if number == 0:
            lines.append("double sum = 0.0;")
        begin, end = begins(f"FROM_{of}", [len(row) for row in rows], "k", made.tables)
        if sum(map(len, rows)) >= MANY * len(rows):
            lines += _interleaved(begin, end, sign, text)
            made.cost.add += (AT_ONCE - 1) * len(rows)
            continue
        lines += [
            f"for (int t = {begin}; t < {end}; t++)",
            f"    sum {sign}= {text};",
        ]
    if not order:
        lines.append("double sum = 0.0;")
    made.cost.div += gathers[0].is_inverse * len(gathers)
    target = _element(
        gathers[0].target[0],
        *columns(f"TO_{name}", [[g.target] for g in gathers], "k", made.tables),
    )
    lines.append(f"{target} = {'1.0 / sum' if gathers[0].is_inverse else 'sum'};")
    return [f"    {line}" for line in lines]


def _interleaved(begin: str, end: str, sign: str, text: str) -> list[str]:
    """A long sum as several that do not wait for each other."""
    others = [f"sum_{n}" for n in range(1, AT_ONCE)]
    made = ["{", f"    double {', '.join(f'{other} = 0.0' for other in others)};"]
    made += [
        f"    int t = {begin};",
        f"    const int end = {end};",
        f"    for (; t + {AT_ONCE - 1} < end; t += {AT_ONCE}) {{",
        f"        sum {sign}= {text};",
    ]
    for n, other in enumerate(others, 1):
        moved = re.sub(r"\bt\b", f"(t + {n})", text)
        made.append(f"        {other} {sign}= {moved};")
    return [
        *made,
        "    }",
        "    for (; t < end; t++)",
        f"        sum {sign}= {text};",
        f"    sum += {' + '.join(others)};",
        "}",
    ]


def _kind(term: Term) -> Kind:
    coef, cells = term
    sign = "c" if abs(coef) != 1.0 or not cells else "+" if coef > 0.0 else "-"
    return tuple(array for array, _ in cells), sign


def _product(name: str, kind: Kind, terms: list[Term], counter: str, made: Tabled) -> str:
    arrays, sign = kind
    factors = []
    if sign == "c":
        values = [coef for coef, _ in terms]
        if len(set(values)) == 1:
            factors.append(repr(values[0]) if values[0] > 0.0 else f"({values[0]!r})")
        else:
            made.tables.append(static_table("double", f"C_{name}", [repr(v) for v in values]))
            factors.append(f"C_{name}[{counter}]")
    if arrays:
        indices = columns(f"AT_{name}", [list(cells) for _, cells in terms], counter, made.tables)
        factors += [_element(a, i) for a, i in zip(arrays, indices, strict=True)]
    return " * ".join(factors)


def _element(array: str, index: str) -> str:
    return f"{array}[{index}]"


def _count(cost: Cost, kind: Kind, times: int, *, is_first: bool) -> None:
    """Add the work of `times` terms of a kind; the first one of a sum is not added to anything."""
    arrays, sign = kind
    products = max(len(arrays) + (sign == "c") - 1, 0)
    if is_first:
        cost.mul += times * products
    elif products:
        cost.mul += times * (products - 1)
        cost.fma += times
    else:
        cost.add += times


def _flow(gathers: list[Gather]) -> Flow:
    """Each term waits for the one before."""
    flow = Flow()
    for gather in gathers:
        done: list[int] = []
        for coef, cells in gather.terms:
            operands = [flow.cell(f"{array}[{index}]") for array, index in cells]
            factors = len(cells) + (abs(coef) != 1.0)
            latency = LATENCY["fma"] if factors > 1 else LATENCY["add"] if done else 0.0
            done = [flow.add(latency, [*done, *operands])]
        if gather.is_inverse:
            done = [flow.add(LATENCY["div"], done)]
        array, index = gather.target
        flow.results[f"{array}[{index}]"] = done[0] if done else flow.cell("constant")
    return flow
