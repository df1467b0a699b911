"""The header that is printed from a declaration: what the author of a source reaches by name.

The author writes `out->y = in->u * p->gain`. A source in Cython gets the same header by way of a `.pxd`.

`python -m rigloop.blocks.compiled.header FILE.toml` writes it beside a declaration, for an editor.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from rig_configs.plain import comment
from rigloop.blocks.compiled.declaration import Declaration, Input, Output
from rigloop.blocks.compiled.declared import read_declared
from rigloop.blocks.compiled.expression import SUPPORT
from rigloop.blocks.compiled.layout import Member, lay_out

STEP_ARGUMENTS = "const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at"
PREPARE_ARGUMENTS = "const Parameters *p, State *s, double period_s"


def header(
    name: str,
    declaration: Declaration,
    expressions: Mapping[str, str] | None = None,
    language: Literal["c", "pyx"] = "c",
) -> str:
    """Text of `NAME.h`; without `expressions` their functions are declared and not defined."""
    lines = [
        f"// {name}: {comment(declaration.about)}",
        "// Printed from the declaration; whatever is changed here is lost.",
        "#ifndef RIGLOOP_BLOCK_H",
        "#define RIGLOOP_BLOCK_H",
        "#include <math.h>",
        "#include <stdint.h>",
        "",
    ]
    for struct, members in structs(declaration).items():
        lines += struct_text(struct, members)
    finite = " && ".join(f"isfinite(in->{name})" for name in declaration.inputs) or "1"
    lines += [
        *_constants(declaration),
        "// 1 where every input is a finite number",
        "static inline int are_finite(const Inputs *in)",
        "{",
        *([] if declaration.inputs else ["    (void)in;"]),
        f"    return {finite};",
        "}",
        "",
        *_expressions(declaration, expressions),
    ]
    if language == "c":
        lines += [
            "// what the source has to define: a step, which returns 0 or a fault",
            f"static int step({STEP_ARGUMENTS});",
        ]
    if declaration.prepare and language == "c":
        lines += [
            "// once, before the first step: 0, or a fault that refuses the parameters",
            f"static int prepare({PREPARE_ARGUMENTS});",
        ]
    if not declaration.prepare:
        translated = f"__pyx_f_{len(name)}{name}_"
        lines += [
            "// a function prepare() runs only where the declaration says `prepare = true`",
            f"#pragma GCC poison {'' if language == 'c' else translated}prepare",
        ]
    return "\n".join([*lines, "#endif", ""])


def structs(declaration: Declaration) -> dict[str, list[Member]]:
    """The structs by which a source reaches signals, parameters, state and clock."""
    layout = lay_out(declaration)
    clock = [
        Member("period_s", "double", about="from cycle to cycle"),
        Member("t_ns", "int64_t", about="nominal time of this cycle since the start of its task"),
        Member("first", "int64_t", about="1 in the first step of a run, then 0"),
    ]
    if declaration.elapsed:
        about = "periods since the last step: 1, or more where cycles were skipped"
        clock.append(Member("elapsed", "int64_t", about=about))
    ports: dict[str, Mapping[str, Input | Output]] = {
        "Inputs": declaration.inputs,
        "Outputs": declaration.outputs,
    }
    return {
        **{
            struct: [Member(n, "double", about=f"{p.about} [{p.unit}]") for n, p in named.items()]
            for struct, named in ports.items()
        },
        "Parameters": [*layout.parts["parameters"]],
        "State": [*layout.parts["state"]],
        "Clock": clock,
    }


def constants(declaration: Declaration) -> list[list[str]]:
    """Names of the constants of each choice, and of the faults, each list counted up: choices from 0, faults from 1."""
    choices = [
        [f"{name}_{word}".upper() for word in parameter.choices]
        for name, parameter in declaration.parameters.items()
        if parameter.type == "choice"
    ]
    return [*choices, [f"FAULT_{name.upper()}" for name in declaration.faults]]


def expression_names(declaration: Declaration) -> list[str]:
    """Parameters that are expressions: a source calls `NAME_of(in)`."""
    return [n for n, p in declaration.parameters.items() if p.type == "expression"]


def struct_text(name: str, members: Iterable[Member]) -> list[str]:
    """Lines of a struct in C."""
    lines = []
    for member in members:
        star = "" if member.c_type.endswith("*") else " "
        bound = f"[{member.words}]" if member.is_array else ""
        about = f"  // {comment(member.about)}" if member.about else ""
        lines.append(f"    {member.c_type}{star}{member.name}{bound};{about}")
    return ["typedef struct {", *lines, f"}} {name};", ""]


def _constants(declaration: Declaration) -> list[str]:
    *choices, faults = constants(declaration)
    lines = [f"enum {{ {', '.join(names)} }};" for names in choices]
    if faults:
        words = zip(faults, declaration.faults.values(), strict=True)
        coded = enumerate(words, start=1)
        lines += ["enum {", *(f"    {n} = {c},  // {comment(w)}" for c, (n, w) in coded), "};"]
    return [*lines, ""] if lines else []


def _expressions(declaration: Declaration, given: Mapping[str, str] | None) -> list[str]:
    names = expression_names(declaration)
    lines = [SUPPORT] if names else []
    for name in names:
        head = f"static inline double {name}_of(const Inputs *in)"
        if given is None:
            lines.append(f"{head};  // what the rig gives as {name}")
        else:
            lines += [head, "{", f"    (void)in;\n    return {given[name]};", "}"]
    return [*lines, ""] if names else []


if __name__ == "__main__":
    found = read_declared(Path(sys.argv[1]))
    text = header(found.name, found.declaration, language=found.language)
    found.path.with_suffix(".h").write_text(text)
