"""The page of the library, `docs/blocks.md`, printed from its declarations.

`python -m rigloop.blocks.compiled.page docs/blocks.md` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from rigloop.blocks.compiled.declaration import Declaration, Parameter
from rigloop.blocks.compiled.kind import CompiledKind, library

HEAD = """\
# Library of blocks

`python -m rigloop.blocks.compiled.page docs/blocks.md` prints this page from `rigloop/blocks/library`; a test fails if
it is older than the declarations.

Each block consists of a declaration and a C source, and is compiled when a rig first names it. Units are in
brackets: *any* is the unit of the wired signal, *as u / s* follows from other ports, and *key unit* is the value of
`unit` in the rig's block. An input in parentheses may stay unwired. A key without a default must be given. To write a
block of your own, see [own_blocks.md](own_blocks.md).
"""


def page() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    drawers: dict[str, list[CompiledKind]] = {}
    for kind in library().values():
        drawers.setdefault(kind.declared.path.parent.name, []).append(kind)
    for drawer, kinds in sorted(drawers.items()):
        lines += [
            f"## {drawer.capitalize()}",
            "",
            "| block | what it does | reads | writes | keys |",
        ]
        lines.append("|---|---|---|---|---|")
        lines += [_row(kind) for kind in sorted(kinds, key=lambda kind: kind.name)]
        lines.append("")
    return "\n".join(lines)


def _row(kind: CompiledKind) -> str:
    declaration = kind.declared.declaration
    cells = [f"`{kind.name}`", declaration.about, _inputs(declaration), _outputs(declaration)]
    cells.append("; ".join(_keys(declaration)) or "–")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _inputs(declaration: Declaration) -> str:
    found = []
    for name, port in declaration.inputs.items():
        text = f"`{name}` [{port.unit}]"
        found.append(text if port.otherwise is None else f"({text})")
    return ", ".join(_shortened(found)) or "–"


def _shortened(found: list[str]) -> list[str]:
    """Ports u3 … u8 are one entry."""
    return found if len(found) < 5 else [*found[:2], found[2], "…", found[-1]]


def _outputs(declaration: Declaration) -> str:
    return ", ".join(f"`{name}` [{port.unit}]" for name, port in declaration.outputs.items())


def _keys(declaration: Declaration) -> Iterator[str]:
    for name, parameter in declaration.parameters.items():
        default = "" if parameter.default is None else f" = {_value(parameter.default)}"
        yield f"`{name}{default}` [{parameter.unit}]{_limits(parameter)}: {parameter.about.rstrip('.')}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _limits(parameter: Parameter) -> str:
    limits = [(sign, f"{x:g}") for sign, x in parameter.limits]
    words = [
        f"{sign.replace('<', '&lt;').replace('>', '&gt;')} {x}"
        for sign, x in [*limits, *parameter.relations]
    ]
    if parameter.choices:
        words.append("one of " + ", ".join(parameter.choices))
    if parameter.type not in ("number", "choice"):
        words.insert(0, parameter.type)
    return f" ({', '.join(words)})" if words else ""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
