"""The C text between a source and the loop, and the folder in which all of a block's texts are compiled.

The glue reads the wired signals into `Inputs`, calls the step, and writes `Outputs`; the source, or the C that
Cython makes of it, is included in it, so that all of it is one function for the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping

from rigloop.blocks.compiled.cython_source import (
    CYTHON_PREPARE,
    CYTHON_STEP,
    TRANSLATED,
    cython_header,
)
from rigloop.blocks.compiled.declaration import Declaration
from rigloop.blocks.compiled.declared import Declared
from rigloop.blocks.compiled.header import header, struct_text
from rigloop.blocks.compiled.layout import Layout, lay_out

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
    name, declaration = declared.name, declared.declaration
    printed = {
        f"{name}.h": header(name, declaration, expressions, declared.language),
        GLUE: _glue(declared),
    }
    if declared.language == "pyx":
        printed[f"{name}.pxd"] = cython_header(name, declaration)
    return {
        **{file: text.encode() for file, text in printed.items()},
        declared.source_path.name: declared.source,
    }


def _glue(declared: Declared) -> str:
    name, declaration = declared.name, declared.declaration
    layout = lay_out(declaration)
    if declared.language == "c":
        step, prepare, source = "step", "prepare", declared.source_path.name
    else:
        step, prepare, source = CYTHON_STEP, CYTHON_PREPARE, TRANSLATED
    lines = [f'#include "{name}.h"', f'#include "{source}"', "#include <stddef.h>", ""]
    for part in ("reads", "writes", "otherwise", "clock"):
        lines += struct_text(f"rigloop_{part}", layout.parts[part])
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
        f"    const int fault = {step}(&in, &out, &m->parameters, &m->state, &at);",
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
            f"    return {prepare}(&m->parameters, &m->state, m->clock.period_s);",
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
