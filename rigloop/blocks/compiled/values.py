"""The parameters of one block of a rig: checked against its declaration, and turned into numbers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rig_configs.bounded import MOST_KEPT_BYTES, UnreadableError, read_text
from rig_configs.mistakes import Mistake
from rig_configs.named_files import SAMPLES
from rig_configs.numbers import number_problem
from rigloop.blocks.compiled.declaration import HALF_RATE, MOST_LIST, Declaration, Parameter
from rigloop.blocks.compiled.expression import ExpressionMistake, c_text
from rigloop.blocks.compiled.parameter_values import falling, holds, value_problems

# number, whole number or index of a choice; list; columns of samples; C text of an expression
Values = Mapping[str, Any]


def values_of(declaration: Declaration, table: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a block whose table has no mistakes, samples read from their files."""
    values: dict[str, Any] = {}
    for name, parameter in declaration.parameters.items():
        value = table.get(name, parameter.default)
        match parameter.type:
            case "number":
                values[name] = float(value)
            case "list":
                values[name] = [float(number) for number in value]
            case "choice":
                values[name] = parameter.choices.index(value)
            case "samples":
                values[name] = read_samples(Path(value), parameter)
            case "expression":
                values[name] = c_text(value, list(declaration.inputs))
            case _:
                values[name] = value
    return values


def value_mistakes(
    file: str, name: str, declaration: Declaration, table: Mapping[str, Any]
) -> Iterator[Mistake]:
    """Find wrong parameters of a block: those that its schema, which sees types alone, lets pass.

    Parameters
    ----------
    file, name : str
        Of the rig and the block.
    table : mapping
        Of the block; it has passed its schema.
    """
    for key, parameter in declaration.parameters.items():
        value = table.get(key, parameter.default)
        if value is None:
            continue  # the schema demands it
        where = f"blocks.{name}.{key}"
        for problem in value_problems(parameter, value):
            yield Mistake(file, where, problem, f"in {parameter.unit}", value)
        for sign, other in parameter.relations:
            if other == HALF_RATE:
                continue  # `rate_mistakes`: the table does not know its task
            limit = table.get(other, declaration.parameters[other].default)
            if _are_numbers(value, limit) and not holds(value, sign, limit):
                remedy = f"in {parameter.unit}; raise one or lower the other"
                yield Mistake(file, where, f"must be {sign} {other} = {limit:g}", remedy, value)
        if parameter.length is not None:
            yield from _length_mistakes(file, where, declaration, parameter, table, value)
        if parameter.type == "samples":
            try:
                if not SAMPLES.fullmatch(str(value)):
                    # else a run would keep no copy of it, and no signature hold for it
                    raise UnreadableError("has no name that ends in .csv")
                read_samples(Path(value), parameter)
            except UnreadableError as error:
                yield Mistake(
                    file, where, str(error), "give a CSV file with its names first", value
                )
        if parameter.type == "expression":
            try:
                c_text(value, list(declaration.inputs))
            except ExpressionMistake as error:
                remedy = f"arithmetic of {', '.join(declaration.inputs)}"
                yield Mistake(file, where, str(error), remedy, value)


def wiring_mistakes(
    file: str, name: str, declaration: Declaration, table: Mapping[str, Any]
) -> Iterator[Mistake]:
    """Find inputs that may stay unwired, but not with these parameters; the schema sees those that never may."""
    for port, given in declaration.inputs.items():
        for key, least in given.needed_from.items():
            value = table.get(key, declaration.parameters[key].default)
            if _are_numbers(value) and value >= least and port not in (table.get("reads") or {}):
                problem = f"not wired, and {key} = {value} needs it"
                yield Mistake(
                    file, f"blocks.{name}.reads.{port}", problem, f"wire it, or lower {key}"
                )


def rate_mistakes(
    file: str, name: str, declaration: Declaration, table: Mapping[str, Any], period_s: float
) -> Iterator[Mistake]:
    """Find frequencies that a task of this period cannot show; arguments as of `value_mistakes`."""
    limit_hz = 0.5 / period_s
    for key, parameter in declaration.parameters.items():
        value = table.get(key, parameter.default)
        for sign, other in parameter.relations:
            if other == HALF_RATE and _are_numbers(value) and not holds(value, sign, limit_hz):
                problem = f"must be {sign} {limit_hz:g}, half the rate of its task"
                remedy = f"in {parameter.unit}; lower it, or put the block into a faster task"
                yield Mistake(file, f"blocks.{name}.{key}", problem, remedy, value)


def _are_numbers(*values: object) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)


def _length_mistakes(
    file: str,
    where: str,
    declaration: Declaration,
    parameter: Parameter,
    table: Mapping[str, Any],
    value: list,
) -> Iterator[Mistake]:
    names = [name.strip() for name in str(parameter.length).split("*")]
    others = [table.get(name, declaration.parameters[name].default) for name in names]
    if any(not isinstance(other, list) for other in others):
        return
    wanted = math.prod(len(other) for other in others)
    if len(value) != wanted:
        spelled = " times ".join(f"{len(o)} of {n}" for n, o in zip(names, others, strict=True))
        problem = f"has {len(value)} numbers, and {spelled} ask for {wanted}"
        yield Mistake(file, where, problem, "give one for each point")


def read_samples(path: Path, parameter: Parameter) -> list[list[float]]:
    """Columns of a CSV file, by their names in its first line.

    Raises
    ------
    UnreadableError
        No such file or column, no row, too many, or a cell that is not a number.
    """
    rows = csv.reader(io.StringIO(read_text(path, MOST_KEPT_BYTES)))
    try:
        head = [word.strip() for word in next(rows, [])]
        missing = [column for column in parameter.columns if column not in head]
        if missing:
            raise UnreadableError(f"has no column {', '.join(missing)} in its first line")
        places = [head.index(column) for column in parameter.columns]
        columns: list[list[float]] = [[] for _ in places]
        for row in rows:
            if not row:
                continue
            if len(columns[0]) >= MOST_LIST:
                raise UnreadableError(f"has more than {MOST_LIST} rows")
            for column, place in zip(columns, places, strict=True):
                column.append(_number(row, place, rows.line_num))
    except csv.Error as error:
        raise UnreadableError(f"is not a CSV file ({error})") from None
    if not columns[0]:
        raise UnreadableError("has no row of numbers")
    if parameter.rising:
        for problem in falling(columns[0]):
            raise UnreadableError(f"column {parameter.columns[0]} {problem}")
    return columns


def _number(row: list[str], place: int, line: int) -> float:
    try:
        value = float(row[place])
    except (IndexError, ValueError):
        raise UnreadableError(f"line {line} has no number in column {place + 1}") from None
    if problem := number_problem(value, smallest=0.0):
        raise UnreadableError(f"line {line}: {value:g} {problem}")
    return value
