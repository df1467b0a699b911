"""Static tables of indices in C: a column that grows evenly is written as `a + b * k` instead."""

from __future__ import annotations

import itertools

from codegen.expressions.gather import Cell


def columns(name: str, rows: list[list[Cell]], counter: str, tables: list[str]) -> list[str]:
    """Index of each cell of a row, as text over the row's number; a table where they grow unevenly."""
    values = [[row[n][1] for row in rows] for n in range(len(rows[0]))]
    even = [even_index(column, counter) for column in values]
    uneven = [column for column, text in zip(values, even, strict=True) if text is None]
    if uneven:
        kind = _integer(max(max(column) for column in uneven))
        if len(uneven) == 1:
            tables.append(static_table(kind, name, [str(i) for i in uneven[0]]))
        else:
            pairs = ["{" + ", ".join(map(str, row)) + "}" for row in zip(*uneven, strict=True)]
            tables.append(static_table(kind, name, pairs, width=len(uneven)))
    texts, number = [], 0
    for text in even:
        if text is not None:
            texts.append(text)
            continue
        texts.append(f"{name}[{counter}]" + (f"[{number}]" if len(uneven) > 1 else ""))
        number += 1
    return texts


def even_index(column: list[int], counter: str) -> str | None:
    """The column as `a + b * counter`, if it is that."""
    stride = column[1] - column[0] if len(column) > 1 else 0
    if any(value != column[0] + stride * k for k, value in enumerate(column)):
        return None
    if stride == 0:
        return str(column[0])
    times = counter if abs(stride) == 1 else f"{abs(stride)} * {counter}"
    if column[0] == 0 and stride > 0:
        return times
    return f"{column[0]} {'+' if stride > 0 else '-'} {times}"


def begins(name: str, sizes: list[int], counter: str, tables: list[str]) -> tuple[str, str]:
    """Return begin and end of a piece of a list whose pieces have these sizes."""
    if len(set(sizes)) == 1:
        size = sizes[0]
        factor = "" if size == 1 else f"{size} * "
        return f"{factor}{counter}", f"{factor}({counter} + 1)"
    sums = [0, *itertools.accumulate(sizes)]
    tables.append(static_table(_integer(sums[-1]), name, [str(i) for i in sums]))
    return f"{name}[{counter}]", f"{name}[{counter} + 1]"


def _integer(largest: int) -> str:
    # half the memory that the cycle has to pull in
    return "unsigned short" if largest < 1 << 16 else "int"


def static_table(kind: str, name: str, texts: list[str], width: int = 0) -> str:
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) > 100 and line.strip():
            lines.append(line)
            line = "   "
        line += f" {text},"
    lines.append(line)
    body = "\n".join(lines)
    shape = f"[{len(texts)}]" + (f"[{width}]" if width else "")
    return f"static const {kind} {name}{shape} = {{\n{body}\n}};"
