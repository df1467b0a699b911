"""C of the project as a syntax tree: the text that is compiled, without the headers of the system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pycparser import c_ast, c_parser

ROOT = Path(__file__).parents[2]
# what the subset takes of <stdint.h>; <math.h> has functions alone, which the executor knows
PROLOGUE = """\
typedef short int16_t; typedef unsigned short uint16_t; typedef int int32_t; typedef long int64_t;
"""
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OWN_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)
DIRECTIVE = re.compile(r"^#.*$", re.MULTILINE)


def whole_text(source: str, changed: Mapping[str, str] | None = None) -> str:
    """Return a header with those of its own that it includes, each once, and without comments.

    Parameters
    ----------
    source
        A header, relative to the root of the project; empty: none.
    changed
        Texts in place of those of these files: mutants.
    """
    seen: set[str] = set()

    def spread(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        text = (changed or {}).get(name) or (ROOT / name).read_text(encoding="utf-8")
        text = COMMENT.sub(" ", text)
        if re.search(r"^#\s*(define (?!\w+_H$)|if |ifdef|else|elif)", text, re.MULTILINE):
            raise ValueError(f"{name}: macros are not of the subset of C that is proved")
        text = OWN_INCLUDE.sub(lambda match: "\n" + spread(match[1]), text)
        return DIRECTIVE.sub("", text)

    return PROLOGUE + (spread(source) if source else "")


def parse(source: str, changed: Mapping[str, str] | None = None) -> c_ast.FileAST:
    """Return the syntax tree of a header and of all that it includes."""
    return c_parser.CParser().parse(whole_text(source, changed), source)
