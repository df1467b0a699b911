"""Files that stand alone: a NumPy module, and a C header with its source, of constants and functions without state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import NamedTuple

from codegen.expressions.emit import C, Syntax

MADE_BY = f"by rigloop codegen {version('rigloop')}; do not edit"
# with no more of the C library than sine and cosine
C99: Syntax = replace(C, sincos=lambda a, s, c: [f"const double {s} = sin({a}), {c} = cos({a});"])


@dataclass(frozen=True)
class Function:
    """A function: its call, what it returns, the array that it fills with its size, and its lines.

    `call` is a signature: in Python without `def`, in C without the semicolon.
    """

    call: str
    about: str
    out: str
    size: int
    lines: Sequence[str]


class Numbers(NamedTuple):
    """A constant array: its name, a line about it, and its rows."""

    name: str
    about: str
    rows: Sequence[Sequence[float]]


def numpy_file(about: str, constant: str, functions: Iterable[Function]) -> str:
    """Return the source of a NumPy module."""
    texts = [
        f'"""{about}',
        "",
        f"Generated {MADE_BY}.",
        '"""',
        "",
        "import numpy as np",
        "",
        constant,
    ]
    for one in functions:
        texts += [
            "", "", f"def {one.call}:", f'    """{one.about}"""',
            f"    {one.out} = np.zeros({one.size})", *(f"    {line}" for line in one.lines),
            f"    return {one.out}",
        ]  # fmt: skip
    return "\n".join([*texts, ""])


def c_files(
    word: str,
    about: str,
    sizes: Mapping[str, int],
    constant: Numbers,
    functions: Sequence[Function],
) -> dict[str, str]:
    """Return the texts of `<word>.h` and `<word>.c`: C99, no state, no allocation; all names begin with the word."""
    upper = word.upper()
    array = f"const double {word}_{constant.name}"
    count = sum(len(row) for row in constant.rows)
    listed = ", ".join(f"{upper}_{name} = {n}" for name, n in sizes.items())
    header = [
        f"// generated {MADE_BY}", f"// {about}", f"#ifndef {upper}_H", f"#define {upper}_H", "",
        f"enum {{ {listed} }};", "", f"// {constant.about}", f"extern {array}[{count}];", "",
    ]  # fmt: skip
    rows = [f"    {', '.join(repr(float(v)) for v in row)}," for row in constant.rows]
    source = [f"// generated {MADE_BY}", f'#include "{word}.h"', "", "#include <math.h>", ""]
    source += [f"{array}[] = {{", *rows, "};", ""]
    for one in functions:
        header += [f"// {one.about}", f"{one.call};"]
        source += [one.call, "{", *(f"    {line}" for line in one.lines), "}", ""]
    return {
        f"{word}.h": "\n".join([*header, "", "#endif", ""]),
        f"{word}.c": "\n".join(source),
    }
