"""The checks that the build of a block must pass: files that were read, variables that are kept, calls into Python."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.kernels.toolchain import BuildError, run

PYTHON = re.compile(r"undefined (?:reference to|symbol:) [`']?(_?Py\w+)")
OWN_FUNCTION = re.compile(r"undefined (?:reference to|symbol:) [`']?(step|prepare)\b")
EARLY = ("INIT", "PREINIT_ARRAY", "INIT_ARRAY", "FINI", "FINI_ARRAY")
OF_THE_LINKER = ("_edata", "_end", "__bss_start")
WRITABLE = (".data", ".bss", ".tdata", ".tbss", ".sdata", ".sbss", ".ldata", ".lbss")


def link_problem(message: str) -> str:
    """Say in one sentence why a source did not link: it lacks a function, or calls Python; else nothing."""
    if lacked := OWN_FUNCTION.search(message):
        name = lacked[1]
        asked = ", which the declaration says that it has" if name == "prepare" else ""
        return f"its source has no function `{name}`{asked}: docs/own_blocks.md shows its head"
    called = sorted(set(PYTHON.findall(message)))
    if not called:
        return ""
    return (
        f"its source calls Python ({', '.join(called)}), as nothing in a cycle may: no with gil, no raise, "
        "no print, no Python objects in step, prepare and what they call"
    )


def refuse_foreign_files(work: Path, rules: list[str], own: set[str], allowed: list[str]) -> None:
    """Refuse a source for which Cython, compiler or assembler read what no hash covers."""
    for rule in rules:
        names = re.split(r"(?<!\\)\s+", rule.replace("\\\n", " ").partition(":")[2].strip())
        for name in names:
            place = (work / name).resolve()
            if name and name not in own and not any(place.is_relative_to(s) for s in allowed):
                raise BuildError(
                    f"its source includes {name}, which is neither its own header "
                    "nor one of the system: put all of it into the source"
                )


def refuse_early_code(chosen: tuple[str, ...], library: Path) -> None:
    """Refuse a library with functions that the loader of libraries would run, whatever blocks there are."""
    readelf = run([*chosen, "-print-prog-name=readelf"], library.parent).strip()
    listed = run([readelf, "-dW", library.name], library.parent)
    if any(f"({tag})" in listed for tag in EARLY):
        raise BuildError(
            "its source runs code when it is loaded or let go (a constructor or destructor): "
            "do that in step or prepare"
        )


def refuse_kept_numbers(chosen: tuple[str, ...], library: Path) -> None:
    """Refuse a library with variables of its own, which all blocks of the kind, and run after run, would share."""
    nm = run([*chosen, "-print-prog-name=nm"], library.parent).strip()
    listed = run([nm, "--format=sysv", library.name], library.parent)
    rows = [[cell.strip() for cell in line.split("|")] for line in listed.splitlines()]
    kept = sorted(
        row[0]
        for row in rows
        if row[-1].startswith(WRITABLE)
        and not row[-1].startswith(".data.rel.ro")
        and row[0] not in OF_THE_LINKER
    )
    if kept:
        raise BuildError(
            f"its source keeps numbers of its own ({', '.join(kept)}): keep them in the declaration's "
            "state, or make them parameters or constants"
        )
