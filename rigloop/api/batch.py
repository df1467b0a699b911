"""Inputs of many steps, given by port, as the rows that compiled code takes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rig_configs.mistakes import near

Array = NDArray[np.float64]
Inputs: TypeAlias = Mapping[str, ArrayLike]


def columns_of(inputs: Inputs, ports: Sequence[str], what: str) -> dict[str, Array]:
    """Return the inputs as float64 arrays of one dimension or none.

    Raises
    ------
    KeyError
        There is no such port.
    TypeError
        The inputs are no mapping.
    ValueError
        An input is not a number or a row of numbers.
    """
    if not isinstance(inputs, Mapping):
        raise TypeError(
            f"{what}: inputs of type {type(inputs).__name__}: give a mapping from port to values; dict(FRAME) is one"
        )
    unknown = [port for port in inputs if port not in ports]
    if unknown:
        raise KeyError(f"{what} has no input {unknown[0]!r}: {near(unknown[0], ports)}")
    found = {}
    for port, given in inputs.items():
        try:
            if given is None or np.asarray(given).dtype.kind == "c":
                raise TypeError
            values = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{port}: {given!r:.60}: give a number, or an array of them") from None
        if values.ndim > 1:
            raise ValueError(
                f"{port}: an array of shape {values.shape}: give one number for each step, shape (n,)"
            )
        found[port] = values
    return found


def steps_of(columns: Mapping[str, Array], steps: int | None) -> int:
    """Return the number of steps: as given, or as long as the inputs are.

    Raises
    ------
    TypeError
        Steps are no whole number.
    ValueError
        The inputs have different lengths, or nothing says how many steps.
    """
    lengths = {port: len(values) for port, values in columns.items() if values.ndim}
    if steps is None:
        if not lengths:
            raise ValueError("how many steps? give an input as an array, or steps=")
        if len(set(lengths.values())) > 1:
            each = ", ".join(f"{port} has {length} values" for port, length in lengths.items())
            raise ValueError(f"{each}: give as many for each input")
        steps = next(iter(lengths.values()))
    try:
        steps = operator.index(steps)
    except TypeError:
        raise TypeError(f"steps = {steps!r:.60}: give a whole number") from None
    if steps < 0:
        raise ValueError(f"steps = {steps}: must be 0 or more")
    for port, length in lengths.items():
        if length != steps:
            raise ValueError(f"{port}: {length} values for {steps} steps: give one for each step")
    return steps


def refuse_where(wrong: NDArray[np.bool_], rows: Array, ports: Sequence[str], remedy: str) -> None:
    """Refuse rows with a value that is marked as wrong, by port, value and step.

    Raises
    ------
    ValueError
    """
    if wrong.any():
        found = np.argwhere(wrong)
        row, column = found[0]
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise ValueError(f"{ports[column]} = {rows[row, column]} at step {row}{more}: {remedy}")


def rows_of(columns: Mapping[str, Array], ports: Sequence[str], steps: int) -> Array:
    """Return one row for each step, in the order of the ports, all of which are there.

    One whole column is not copied.
    """
    if len(ports) == 1 and columns[ports[0]].ndim:
        return np.ascontiguousarray(columns[ports[0]])[:, None]
    rows = np.empty((steps, len(ports)))
    for i, port in enumerate(ports):
        rows[:, i] = columns[port]
    return rows
