"""A mechanism's facts, and an importer's report, as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape

from codegen.bounds.machine import WORKS
from codegen.importers.drawing import DEEPEST
from codegen.importers.tree import Item
from codegen.topology.bodies import GROUND
from rigloop.display import tables as display
from rigloop.display.tables import Cell, Row, Table, Tone, Toned, figures, show, show_filled, words
from rigloop.display.verdict import paragraph, remark
from rigloop.model.facts import LinkFacts, ModelFacts, TreeFacts

MOST_ROWS = 80  # of one table; `--json` has all
TONES = {"carried": Tone.GOOD, "changed": Tone.WARN, "left out": Tone.BAD}


def print_facts(facts: ModelFacts, console: Console) -> None:
    """Print everything that is known of a mechanism."""
    n_stepped = sum(c.is_stepped for c in facts.coordinates)
    n_rows = sum(not r.is_linear for r in facts.constraints)
    console.print(f"[bold]{escape(facts.name)}[/]  {escape(facts.file)}", highlight=False)
    gravity = " ".join(f"{g:g}" for g in facts.gravity_m_s2)
    show(
        display.facts(
            [
                ("degrees of freedom", str(facts.dof), "that guides leave"),
                ("coordinates", str(len(facts.coordinates)), f"{n_stepped} after linear rows are solved"),
                ("constraints", str(len(facts.constraints)), f"{n_rows} after linear rows are solved"),
                ("redundant rows", str(len(facts.redundant)), "handled without a setting"),
                ("total mass", f"{facts.total_mass_kg:.6g} kg", ""),
                ("gravity", f"{gravity} m/s²", ""),
            ]
        ),
        console,
    )  # fmt: skip
    if facts.is_singular:
        remark("this pose is singular: rows depend on each other here that do not nearby", console)
    show_filled(_parts(facts), console)
    _tree(facts, console)
    _formulations(facts, console)
    _operations(facts, console)


def _parts(facts: ModelFacts) -> Iterator[Table]:
    coordinates = [
        [
            c.name,
            f"{c.value:.9g}",
            c.unit,
            f"{c.rate:.6g}" if c.rate else "",
            f"{c.moved:.3g}" if c.moved else "",
            "" if c.is_stepped else "from linear rows",
        ]
        for c in facts.coordinates
    ]
    heads = [*words("name", whole=True), *figures("value"), *words("unit")]
    heads += [*figures("rate", "moved by assembly"), *words("", tone=Tone.SOFT)]
    yield Table(heads, coordinates, "coordinates at the assembled pose", most=MOST_ROWS)
    rows = [
        [
            str(number),
            r.element,
            r.row,
            f"{len(r.coordinates)}{', linear: solved' if r.is_linear else ''}",
        ]
        for number, r in enumerate(facts.constraints)
    ]
    heads = words("#", "element", "row", "coordinates")
    yield Table(heads, rows, "constraints", most=MOST_ROWS)
    follows = [[r.row, ", ".join(r.follows_from)] for r in facts.redundant]
    yield Table(words("row", "follows from"), follows, "redundant rows", most=MOST_ROWS)
    masses = [
        [
            m.element,
            "" if m.mass_kg is None else f"{m.mass_kg:.6g} kg",
            f"{' '.join(f'{v:.6g}' for v in m.inertia_kg_m2)} kg m²" if m.inertia_kg_m2 else "",
        ]
        for m in facts.masses
    ]
    yield Table(words("element", "mass", "inertia"), masses, "masses")
    for title, values in (("inputs", facts.inputs), ("run-time parameters", facts.parameters)):
        named = [[v.name, f"{v.value:.9g}"] for v in values]
        yield Table(words("name", "value when built"), named, title, most=MOST_ROWS)
    outputs = [[port] for port in facts.outputs]
    yield Table(words("signal"), outputs, "outputs", most=MOST_ROWS)


def _tree(facts: ModelFacts, console: Console) -> None:
    """The tree of the rigid bodies, and what it cuts."""
    tree = facts.tree
    if not tree.links:
        return
    console.print()
    console.print("[bold]tree of the rigid bodies[/]")
    freedoms = f"{tree.freedoms} freedoms" if tree.freedoms != 1 else "1 freedom"
    if tree.cuts:
        cuts = f"{len(tree.cuts)} cuts" if len(tree.cuts) > 1 else "1 cut"
        paragraph(f"{freedoms} and {cuts}: no open chain", console)
    else:
        paragraph(f"{freedoms} and no cut: an open chain", console)
    for line in drawn(tree)[:MOST_ROWS]:
        console.print(escape(line), highlight=False)
    if tree.cuts:
        rows = [[cut.element, cut.problem] for cut in tree.cuts]
        show(Table(words("element", "why it is cut"), rows, "cuts", most=MOST_ROWS), console)


def drawn(tree: TreeFacts) -> list[str]:
    """The links under their parents, with their joints."""
    lines = [GROUND]
    children: dict[str, list[LinkFacts]] = {}
    for link in tree.links:
        children.setdefault(link.parent, []).append(link)

    def below(parent: str, indent: str) -> list[tuple[LinkFacts, str, bool]]:
        found = children.get(parent, [])
        return [(link, indent, link is found[-1]) for link in reversed(found)]

    waiting = below(GROUND, "")
    while waiting:
        link, indent, is_last = waiting.pop()
        moved = ", ".join(link.coordinates)
        others = [body for body in link.bodies if body != link.name]
        beside = f" with {', '.join(others)}" if others else ""
        name = link.name if link.bodies else "(no mass)"
        lines.append(f"{indent}+-- {link.joint} {moved} --o {name}{beside}")
        # a drawing as deep as it is wide helps nobody: from here on the links stand below each other
        step = ("    " if is_last else "|   ") if len(indent) < DEEPEST else ""
        waiting += below(link.name, indent + step)
    return lines


def _formulations(facts: ModelFacts, console: Console) -> None:
    """The cost of a step by each formulation, and the one that is advised."""
    rows = []
    for cost in facts.formulations:
        counted = [str(cost.operations), str(cost.path_cycles), f"{cost.cycles:.0f}"]
        cells: list[Cell] = [
            cost.formulation,
            cost.integrator,
            *(["", "", ""] if cost.refused else counted),
            cost.refused,
        ]
        rows.append(Row(cells, Tone.STRONG if cost.formulation == facts.advised else Tone.PLAIN))
    heads = [*words("formulation", "integrator", whole=True)]
    heads += [*figures("operations", "critical path", "cycles, estimated"), *words("not for it")]
    console.print()
    show(Table(heads, rows, "a step by each formulation"), console)
    if facts.advised:
        paragraph(f'advised: `formulation = "{facts.advised}"`, {facts.reason}', console)
    else:
        remark(facts.reason, console)


def _operations(facts: ModelFacts, console: Console) -> None:
    n = facts.operations
    console.print()
    console.print("[bold]one step of its kernel[/]")
    show(
        display.facts(
            [
                ("slots", f"{n['slots']}", "floating-point operations in straight lines"),
                ("mul, add, fma, div", f"{n['mul']}, {n['add']}, {n['fma']}, {n['div']}", ""),
                ("in loops over arrays", f"{n['sweep']}", ""),
                ("critical path", f"{n['path_cycles']} cycles", "longest chain of operations"),
            ]
        ),
        console,
    )  # fmt: skip
    paragraph(facts.options, console, tone="dim")
    _bound(facts, console)


def _bound(facts: ModelFacts, console: Console) -> None:
    bound, costs = facts.bound, facts.costs
    console.print()
    if bound is None or costs is None:
        remark("no compiler: the longest time of a step is not known", console)
        return
    console.print("[bold]longest time of that step on this machine[/]")
    each = "its iteration" if bound.iterations == 1 else f"all {bound.iterations} iterations"
    show(
        display.facts(
            [
                ("bound", f"{bound.bound_ns / 1e3:.3g} µs", f"with {each}; warm caches, a core of its own"),
                ("operations", f"{bound.work_ns / 1e3:.3g} µs", f"{bound.slots}, one after another"),
                ("critical path", f"{bound.path_ns / 1e3:.3g} µs", "at the latencies measured here"),
                ("around them", f"{bound.around_ns / 1e3:.3g} µs", "ports, checks, branches"),
                ("near a singular pose", f"{bound.singular_ns / 1e3:.3g} µs", "where the step is solved again"),
                ("after lost cycles", f"{bound.reassembled_ns / 1e3:.3g} µs", "with all parts of an assembly"),
            ]
        ),
        console,
    )  # fmt: skip
    shown = [[name, f"{getattr(costs, name):.3g}", said] for name, said in WORKS.items()]
    heads = [*words("operation"), *figures("ns"), *words("measured", tone=Tone.SOFT)]
    show(Table(heads, shown, f"costs measured on {costs.processor}"), console)


def print_import(items: tuple[Item, ...], console: Console) -> None:
    """Print what an importer carried over, changed and left out."""
    order = list(TONES)
    rows: list[list[Cell]] = [
        [Toned(item.status, TONES[item.status]), item.kind, item.name, item.words]
        for item in sorted(items, key=lambda i: order.index(i.status))
    ]
    show(Table(words("", "what", "name", "how"), rows), console)
