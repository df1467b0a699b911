"""A mechanism's facts, and an importer's report, as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from codegen.importers.tree import Item
from rigloop.model.facts import ModelFacts

MOST_ROWS = 80  # of one table; `--json` has all
STATUS_COLOUR = {"carried": "green", "changed": "yellow", "left out": "red"}


def print_facts(facts: ModelFacts, console: Console) -> None:
    """Print everything that is known of a mechanism."""
    n_stepped = sum(c.is_stepped for c in facts.coordinates)
    n_rows = sum(not r.is_linear for r in facts.constraints)
    console.print(f"[bold]{escape(facts.name)}[/]  {escape(facts.file)}", highlight=False)
    gravity = " ".join(f"{g:g}" for g in facts.gravity_m_s2)
    pairs(
        console,
        [
            ("degrees of freedom", str(facts.dof), "that guides leave"),
            ("coordinates", str(len(facts.coordinates)), f"{n_stepped} after linear rows are solved"),
            ("constraints", str(len(facts.constraints)), f"{n_rows} after linear rows are solved"),
            ("redundant rows", str(len(facts.redundant)), "handled without a setting"),
            ("total mass", f"{facts.total_mass_kg:.6g} kg", ""),
            ("gravity", f"{gravity} m/s²", ""),
        ],
    )  # fmt: skip
    if facts.is_singular:
        words = "this pose is singular: rows depend on each other here that do not nearby"
        console.print(f"[yellow]•[/] {words}")
    _coordinates(facts, console)
    _constraints(facts, console)
    _redundant(facts, console)
    masses = Table("element", "mass", "inertia", title="masses", **LOOK)
    for m in facts.masses:
        inertia = " ".join(f"{v:.6g}" for v in m.inertia_kg_m2)
        masses.add_row(
            escape(m.element),
            "" if m.mass_kg is None else f"{m.mass_kg:.6g} kg",
            f"{inertia} kg m²" if inertia else "",
        )
    print_table(masses, console)
    for title, values in (("inputs", facts.inputs), ("run-time parameters", facts.parameters)):
        table = Table("name", "value when built", title=title, **LOOK)
        _fill(table, ((escape(v.name), f"{v.value:.9g}") for v in values))
        print_table(table, console)
    outputs = Table("signal", title="outputs", **LOOK)
    _fill(outputs, ((escape(port),) for port in facts.outputs))
    print_table(outputs, console)
    _operations(facts, console)


LOOK: dict = {
    "title_justify": "left",
    "title_style": "bold",
    "box": None,
    "padding": (0, 2, 0, 0),
}


def pairs(console: Console, rows: list[tuple[str, str, str]]) -> None:
    """Print names, values and remarks."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _fill(table: Table, rows: Iterable[tuple[str, ...]]) -> None:
    listed = list(rows)
    for row in listed[:MOST_ROWS]:
        table.add_row(*row)
    if len(listed) > MOST_ROWS:
        table.caption = f"… and {len(listed) - MOST_ROWS} more: --json has all"
        table.caption_justify = "left"


def print_table(table: Table, console: Console) -> None:
    """Print a table that has rows."""
    if table.row_count:
        console.print()
        console.print(table)


def _coordinates(facts: ModelFacts, console: Console) -> None:
    table = Table(title="coordinates at the assembled pose", **LOOK)
    table.add_column("name", no_wrap=True)
    table.add_column("value", justify="right")
    table.add_column("unit")
    table.add_column("rate", justify="right")
    table.add_column("moved by assembly", justify="right")
    table.add_column("", style="dim")
    _fill(
        table,
        (
            (
                escape(c.name),
                f"{c.value:.9g}",
                c.unit,
                f"{c.rate:.6g}" if c.rate else "",
                f"{c.moved:.3g}" if c.moved else "",
                "" if c.is_stepped else "from linear rows",
            )
            for c in facts.coordinates
        ),
    )
    print_table(table, console)


def _constraints(facts: ModelFacts, console: Console) -> None:
    table = Table("#", "element", "row", "coordinates", title="constraints", **LOOK)
    _fill(
        table,
        (
            (
                str(number),
                escape(r.element),
                escape(r.row),
                f"{len(r.coordinates)}{', linear: solved' if r.is_linear else ''}",
            )
            for number, r in enumerate(facts.constraints)
        ),
    )
    print_table(table, console)


def _redundant(facts: ModelFacts, console: Console) -> None:
    table = Table("row", "follows from", title="redundant rows", **LOOK)
    _fill(table, ((escape(r.row), escape(", ".join(r.follows_from))) for r in facts.redundant))
    print_table(table, console)


def _operations(facts: ModelFacts, console: Console) -> None:
    n = facts.operations
    console.print()
    console.print("[bold]one step of the default kernel[/]")
    pairs(
        console,
        [
            ("slots", f"{n['slots']}", "floating-point operations in straight lines"),
            ("mul, add, fma, div", f"{n['mul']}, {n['add']}, {n['fma']}, {n['div']}", ""),
            ("in loops over arrays", f"{n['sweep']}", ""),
            ("critical path", f"{n['path_cycles']} cycles", "longest chain of operations"),
        ],
    )  # fmt: skip
    console.print(facts.options, style="dim", highlight=False, markup=False)


def print_import(items: tuple[Item, ...], console: Console) -> None:
    """Print what an importer carried over, changed and left out."""
    table = Table("", "what", "name", "how", **LOOK)
    order = list(STATUS_COLOUR)
    for item in sorted(items, key=lambda i: order.index(i.status)):
        colour = STATUS_COLOUR[item.status]
        table.add_row(
            f"[{colour}]{item.status}[/]", escape(item.kind), escape(item.name), escape(item.words)
        )
    console.print(table)
