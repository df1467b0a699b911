"""A block's source in Cython: the `.pxd` that is printed from its declaration, and the way to C.

The translated text is compiled like one in C and never becomes a Python module: nothing of it runs but `step`
and `prepare`. A step that reaches Python does not link, for nothing of Python is linked.
"""

from __future__ import annotations

import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from codegen.kernels.toolchain import run
from rigloop.blocks.compiled.declaration import Declaration
from rigloop.blocks.compiled.header import (
    PREPARE_ARGUMENTS,
    STEP_ARGUMENTS,
    constants,
    expression_names,
    structs,
)

TRANSLATED = "rigloop_translated.c"  # no block has such a name
CYTHON_STEP, CYTHON_PREPARE = "rigloop_cython_step", "rigloop_cython_prepare"
# arithmetic of C, which cannot raise, and no index that is looked at
DIRECTIVES = ("cdivision=True", "boundscheck=False", "wraparound=False", "cpow=True")
# what would make it a Python module is reached by nothing then, and left out by the linker
FLAGS = ("-DCYTHON_NO_PYINIT_EXPORT",)


def cython_header(name: str, declaration: Declaration) -> str:
    """Text of `NAME.pxd`, whose names Cython knows in `NAME.pyx` without a cimport."""
    lines = [
        "from libc.stdint cimport int64_t, uint64_t",
        "",
        f'cdef extern from "{name}.h":',
    ]
    for struct, members in structs(declaration).items():
        lines.append(f"    ctypedef struct {struct}:")
        for member in members:
            star = "" if member.c_type.endswith("*") else " "
            bound = f"[{member.words}]" if member.is_array else ""
            lines.append(f"        {member.c_type}{star}{member.name}{bound}")
        if not members:
            lines.append("        pass")
    names = [name for some in constants(declaration) for name in some]
    if names:
        lines += ["    enum:", *(f"        {name}" for name in names)]
    for function in ("int are_finite", *(f"double {n}_of" for n in expression_names(declaration))):
        lines.append(f"    {function}(const Inputs *inputs) noexcept nogil")
    step = STEP_ARGUMENTS.replace("*in,", "*inputs,")  # a word of Python
    lines += ["", f'cdef int step "{CYTHON_STEP}"({step}) noexcept nogil']
    if declaration.prepare:
        lines.append(f'cdef int prepare "{CYTHON_PREPARE}"({PREPARE_ARGUMENTS}) noexcept nogil')
    return "\n".join([*lines, ""])


def translate(name: str, work: Path) -> str:
    """Translate `NAME.pyx` of a folder into C; return what Cython read, as a rule of make.

    Raises
    ------
    BuildError
        With the words of Cython.
    """
    directives = [part for directive in DIRECTIVES for part in ("-X", directive)]
    command = [sys.executable, "-m", "cython", "-3", "-M", *directives, "--module-name", name]
    run([*command, f"{name}.pyx", "-o", TRANSLATED], work)
    read = work / f"{TRANSLATED}.dep"
    try:
        return read.read_text()
    finally:
        read.unlink()


def python_headers() -> list[str]:
    """Folders of the headers of this Python, which a translated text includes."""
    return sorted({sysconfig.get_path(kind) for kind in ("include", "platinclude")})


def cython_library() -> str:
    """Folder of the declarations that Cython brings: `libc`, `cpython`, …."""
    found = find_spec("Cython")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "Includes")
