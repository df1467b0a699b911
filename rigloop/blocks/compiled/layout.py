"""The layout of a compiled block's memory, and that memory filled for one block.

All parts are words of 8 bytes, addresses included, so that a place is a number of words; the C text repeats
the layout as a struct and asserts at compile time that every member lies there. Lists of numbers and arrays
whose size is a parameter follow the struct, so that a block is one piece of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rigloop.blocks.compiled.declaration import Declaration, members_of
from rigloop.blocks.compiled.values import Values

LINE_WORDS = 8  # of a cache line
# what the glue keeps for itself
CLOCK = {"period_s": "double", "period_ns": "int64_t", "last_t_ns": "int64_t", "begun": "int64_t"}
STATE_TYPES = {"number": "double", "integer": "int64_t", "bits": "uint64_t"}


@dataclass(frozen=True)
class Member:
    """A member of one of the structs: its C type (of an element, where it is an array), words, meaning."""

    name: str
    c_type: str
    words: int = 1
    is_array: bool = False
    about: str = ""


@dataclass(frozen=True)
class Layout:
    """Members of each part, the place of each, and how many words the struct takes."""

    parts: Mapping[str, tuple[Member, ...]]
    places: Mapping[tuple[str, str], int]
    words: int


def lay_out(declaration: Declaration) -> Layout:
    """Place every part of a block."""
    optional = [n for n, port in declaration.inputs.items() if port.otherwise is not None]
    parts = {
        "reads": tuple(Member(name, "const double *") for name in declaration.inputs),
        "writes": tuple(Member(name, "double *") for name in declaration.outputs),
        "otherwise": tuple(Member(name, "double") for name in optional),
        "clock": tuple(Member(name, c_type) for name, c_type in CLOCK.items()),
        "parameters": tuple(_parameters(declaration)),
        "state": tuple(_state(declaration)),
    }
    places, at = {}, 0
    for part, members in parts.items():
        for member in members:
            places[part, member.name] = at
            at += member.words
    return Layout(parts, places, at)


def _parameters(declaration: Declaration) -> list[Member]:
    found = []
    for name, parameter in declaration.parameters.items():
        about = f"{parameter.about} [{parameter.unit}]"
        members = members_of(name, declaration)
        if parameter.type in ("list", "samples"):
            *lists, count = members
            found += [Member(n, "const double *", about=about) for n in lists]
            found.append(Member(count, "int64_t", about="how many"))
        else:
            c_type = "double" if parameter.type == "number" else "int64_t"
            found += [Member(n, c_type, about=about) for n in members]
    return found


def _state(declaration: Declaration) -> list[Member]:
    found = []
    for name, state in declaration.state.items():
        c_type = STATE_TYPES[state.type]
        if isinstance(state.size, str):
            about = f"{state.about} ({state.size} of them)"
            found.append(Member(name, f"{c_type} *", about=about))
        elif state.size is not None:
            found.append(Member(name, c_type, state.size, is_array=True, about=state.about))
        else:
            found.append(Member(name, c_type, about=state.about))
    return found


def fill(
    declaration: Declaration, layout: Layout, values: Values, period_s: float
) -> NDArray[np.int64]:
    """Memory of one block, with its parameters and clock; ports are not bound, and the state is zero.

    Returns
    -------
    words : ndarray of int64
        Whoever steps the block keeps it: addresses of its own words are in it.
    """
    places = layout.places
    # place of each address, how many numbers it points to, and which; None: an array of the state
    behind: list[tuple[int, int, list[float] | None]] = []
    for name, parameter in declaration.parameters.items():
        if parameter.type in ("list", "samples"):
            *lists, _ = members_of(name, declaration)
            columns = values[name] if parameter.type == "samples" else [values[name]]
            for member, column in zip(lists, columns, strict=True):
                behind.append((places["parameters", member], len(column), column))
    for name, state in declaration.state.items():
        if isinstance(state.size, str):
            behind.append((places["state", name], int(values[state.size]), None))

    total = layout.words + sum(size for _, size, _ in behind)
    spare = np.zeros(total + LINE_WORDS, np.int64)
    begin = -(spare.ctypes.data // 8) % LINE_WORDS
    words = spare[begin : begin + total]
    numbers = words.view(np.float64)

    at = layout.words
    for place, size, column in behind:
        words[place] = words.ctypes.data + 8 * at
        if column is not None:
            numbers[at : at + size] = column
        at += size
    for name, parameter in declaration.parameters.items():
        match parameter.type:
            case "number":
                numbers[places["parameters", name]] = values[name]
            case "whole" | "choice":
                words[places["parameters", name]] = values[name]
            case "list":
                words[places["parameters", f"n_{name}"]] = len(values[name])
            case "samples":
                words[places["parameters", f"n_{name}"]] = len(values[name][0])
    for name, port in declaration.inputs.items():
        if port.otherwise is not None:
            place = places["otherwise", name]
            numbers[place] = port.otherwise
            words[places["reads", name]] = words.ctypes.data + 8 * place
    numbers[places["clock", "period_s"]] = period_s
    words[places["clock", "period_ns"]] = round(period_s * 1e9)
    return words
