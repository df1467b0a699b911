"""The C texts that belong to a declaration: the header that its author includes, and the glue to the loop.

The author writes `out->y = in->u * p->gain` by name. The glue reads the wired signals into `Inputs`, calls
the step, and writes `Outputs`; the author's source is included in it, so that all of it is one function for
the compiler.

`python -m rigloop.blocks.compiled.header FILE.toml` writes the header beside a declaration, for an editor.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from rig_configs.plain import comment
from rigloop.blocks.compiled.declaration import Declaration, Declared, read_declared
from rigloop.blocks.compiled.expression import SUPPORT
from rigloop.blocks.compiled.layout import Layout, Member, lay_out

STEP = "rigloop_step"
PREPARE = "rigloop_prepare"
GLUE = "rigloop_glue.c"  # no block has such a name


def texts(declared: Declared, expressions: Mapping[str, str]) -> dict[str, bytes]:
    """Files of a folder in which the glue is compiled.

    Parameters
    ----------
    expressions : mapping of parameter to C text
        Of parameters that are expressions.
    """
    name = declared.name
    return {
        f"{name}.h": header(name, declared.declaration, expressions).encode(),
        f"{name}.c": declared.source,
        GLUE: _glue(name, declared.declaration).encode(),
    }


def header(
    name: str, declaration: Declaration, expressions: Mapping[str, str] | None = None
) -> str:
    """Text of `NAME.h`; without `expressions` their functions are declared and not defined."""
    layout = lay_out(declaration)
    inputs = [
        Member(n, "double", about=_of(port.about, port.unit))
        for n, port in declaration.inputs.items()
    ]
    outputs = [
        Member(n, "double", about=_of(port.about, port.unit))
        for n, port in declaration.outputs.items()
    ]
    clock = [
        Member("period_s", "double", about="from cycle to cycle"),
        Member("t_ns", "int64_t", about="nominal time of this cycle since the start of its task"),
        Member("first", "int64_t", about="1 in the first step of a run, then 0"),
    ]
    if declaration.elapsed:
        about = "periods since the last step: 1, or more where cycles were skipped"
        clock.append(Member("elapsed", "int64_t", about=about))
    lines = [
        f"// {name}: {comment(declaration.about)}",
        "// Printed from the declaration; whatever is changed here is lost.",
        "#ifndef RIGLOOP_BLOCK_H",
        "#define RIGLOOP_BLOCK_H",
        "#include <math.h>",
        "#include <stdint.h>",
        "",
        *_struct("Inputs", inputs),
        *_struct("Outputs", outputs),
        *_struct("Parameters", layout.parts["parameters"]),
        *_struct("State", layout.parts["state"]),
        *_struct("Clock", clock),
        *_constants(declaration),
        "// 1 where every input is a finite number",
        "static inline int are_finite(const Inputs *in)",
        "{",
        *([] if inputs else ["    (void)in;"]),
        f"    return {' && '.join(f'isfinite(in->{m.name})' for m in inputs) or '1'};",
        "}",
        "",
        *_expressions(declaration, expressions),
        "// what the source has to define: a step, which returns 0 or a fault",
        f"static int step({_STEP_ARGUMENTS});",
    ]
    if declaration.prepare:
        lines += [
            "// once, before the first step: 0, or a fault that refuses the parameters",
            "static int prepare(const Parameters *p, State *s, double period_s);",
        ]
    else:
        lines += [
            "// a function prepare() runs only where the declaration says `prepare = true`",
            "#pragma GCC poison prepare",
        ]
    return "\n".join([*lines, "#endif", ""])


_STEP_ARGUMENTS = "const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at"


def _of(about: str, unit: str) -> str:
    return f"{about} [{unit}]"


def _struct(name: str, members: Iterable[Member]) -> list[str]:
    lines = []
    for member in members:
        star = "" if member.c_type.endswith("*") else " "
        bound = f"[{member.words}]" if member.is_array else ""
        about = f"  // {comment(member.about)}" if member.about else ""
        lines.append(f"    {member.c_type}{star}{member.name}{bound};{about}")
    return ["typedef struct {", *lines, f"}} {name};", ""]


def _constants(declaration: Declaration) -> list[str]:
    lines = [
        f"enum {{ {', '.join(f'{name}_{word}'.upper() for word in parameter.choices)} }};"
        for name, parameter in declaration.parameters.items()
        if parameter.type == "choice"
    ]
    faults = [
        f"    FAULT_{name.upper()} = {code},  // {comment(words)}"
        for code, (name, words) in enumerate(declaration.faults.items(), start=1)
    ]
    if faults:
        lines += ["enum {", *faults, "};"]
    return [*lines, ""] if lines else []


def _expressions(declaration: Declaration, given: Mapping[str, str] | None) -> list[str]:
    names = [n for n, p in declaration.parameters.items() if p.type == "expression"]
    if not names:
        return []
    lines = [SUPPORT]
    for name in names:
        head = f"static inline double {name}_of(const Inputs *in)"
        if given is None:
            lines.append(f"{head};  // what the rig gives as {name}")
        else:
            lines += [head, "{", f"    (void)in;\n    return {given[name]};", "}"]
    return [*lines, ""]


def _glue(name: str, declaration: Declaration) -> str:
    layout = lay_out(declaration)
    lines = [f'#include "{name}.h"', f'#include "{name}.c"', "#include <stddef.h>", ""]
    for part in ("reads", "writes", "otherwise", "clock"):
        lines += _struct(f"rigloop_{part}", layout.parts[part])
    types = {p: f"rigloop_{p}" for p in ("reads", "writes", "otherwise", "clock")}
    types |= {"parameters": "Parameters", "state": "State"}
    lines += ["typedef struct {", *(f"    {t} {part};" for part, t in types.items())]
    lines += ["} rigloop_memory;", "", *_assertions(layout), ""]
    lines += [
        '__attribute__((visibility("default"))) int rigloop_step(void *self, int64_t t_ns)',
        "{",
        "    rigloop_memory *m = self;",
        f"    const Inputs in = {{ {', '.join(f'*m->reads.{n}' for n in declaration.inputs)} }};",
        "    Outputs out = { 0 };",
        "    const int64_t first = !m->clock.begun;",
        *_elapsed(declaration),
        "    const Clock at = { m->clock.period_s, t_ns, first"
        f"{', elapsed' if declaration.elapsed else ''} }};",
        "    const int fault = step(&in, &out, &m->parameters, &m->state, &at);",
        "    m->clock.begun = 1;",
        *(f"    *m->writes.{n} = out.{n};" for n in declaration.outputs),
        "    return fault;",
        "}",
    ]
    if declaration.prepare:
        lines += [
            '__attribute__((visibility("default"))) int rigloop_prepare(void *self)',
            "{",
            "    rigloop_memory *m = self;",
            "    return prepare(&m->parameters, &m->state, m->clock.period_s);",
            "}",
        ]
    return "\n".join([*lines, ""])


def _elapsed(declaration: Declaration) -> list[str]:
    if not declaration.elapsed:
        return []
    return [
        "    const int64_t since_ns = t_ns - m->clock.last_t_ns;",
        "    // a cycle as planned costs no division",
        "    const int64_t elapsed = first || since_ns == m->clock.period_ns ? 1",
        "        : since_ns / m->clock.period_ns > 1 ? since_ns / m->clock.period_ns : 1;",
        "    m->clock.last_t_ns = t_ns;",
    ]


def _assertions(layout: Layout) -> list[str]:
    lines = [
        f'_Static_assert(offsetof(rigloop_memory, {part}.{name}) == {8 * place}, "{part}.{name}");'
        for (part, name), place in layout.places.items()
    ]
    return [*lines, f'_Static_assert(sizeof(rigloop_memory) == {8 * layout.words}, "memory");']


if __name__ == "__main__":
    found = read_declared(Path(sys.argv[1]))
    found.path.with_suffix(".h").write_text(header(found.name, found.declaration))
