"""Compiler flags that an option may give, as types: only flags that change how code is generated.

A rig file names them, and a rig file may come from a stranger: no flag may load a plug-in, run a program,
read or write a file, or pass words on to other tools.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from rt_core.settings import Refusal

FLAG = re.compile(
    r"-O[0-3sg]?|-g[0-3]?"
    r"|-f(?:no-)?[a-z0-9][a-z0-9-]*(?:=[a-z0-9-]+)?"
    r"|-m(?:no-)?[a-z0-9][a-z0-9.-]*(?:=[A-Za-z0-9.+_-]+)?"
    r"|-W(?:no-)?[a-z0-9][a-z0-9+-]*(?:=[0-9]+)?|-pedantic|-w"
    r"|-[DU][A-Za-z_][A-Za-z0-9_]*(?:=[A-Za-z0-9_.]*)?"
)
# load or write files, or are for other programs
FOREIGN = re.compile(
    r"-f(?:no-)?(?:plugin|dump|profile|auto-profile|coverage|test-coverage|callgraph-info|save|opt-info|"
    r"stack-usage|use-ld|fuse|module|lto|compare-debug|working-directory|diagnostics|sanitize|openmp|openacc|offload)"
    r"|-m(?:abi|native)?=?$"
)
INEXACT = ("-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math")
MARCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")


def _of_code_generation(flag: str) -> str:
    if flag in INEXACT:
        raise Refusal("would break bit-equal replay", "remove")
    if len(flag) > 80 or not FLAG.fullmatch(flag) or FOREIGN.match(flag):
        remedy = "take -O, -g, -f, -m, -W or -D without files, and set CC for anything else"
        raise Refusal("is no flag of code generation", remedy)
    return flag


def _processor(march: str) -> str:
    if len(march) > 40 or not MARCH.fullmatch(march):
        raise Refusal("is no processor", "write it as for gcc's -march")
    return march


Flag = Annotated[str, AfterValidator(_of_code_generation)]
AtMost = Field(max_length=32)
"""A list of flags is no longer."""
March = Annotated[str, AfterValidator(_processor)]
