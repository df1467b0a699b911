"""Compiled blocks on demand: header, glue and source become one shared library, kept by the hash of what it
follows from. The cache and its protections are those of kernels.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from codegen.kernels.building import building
from codegen.kernels.cache import CacheError, open_cache, open_entry
from codegen.kernels.toolchain import (
    BuildError,
    compiler,
    compiler_version,
    digest,
    keep,
    march,
    run,
    system_folders,
    tools,
)
from rigloop.blocks.compiled import build_checks, cython_source
from rigloop.blocks.compiled.build_checks import (
    link_problem,
    refuse_early_code,
    refuse_foreign_files,
    refuse_kept_numbers,
)
from rigloop.blocks.compiled.declared import Declared
from rigloop.blocks.compiled.glue import GLUE, PREPARE, STEP, texts
from rigloop.blocks.compiled.trust import NotTrustedError, is_trusted

LIBRARY = "block.so"
ASSEMBLY = "block.s"
READ = "read.d"
# products and sums are rounded one by one, so that a block computes what its text says
FLAGS = (
    "-std=gnu11", "-O2", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden",
    "-ffunction-sections", "-fdata-sections", "-Wno-unused-function",
    "-Werror=implicit-function-declaration", "-Werror=return-type",
    "-Werror=incompatible-pointer-types", "-Werror=int-conversion",
)  # fmt: skip
# without the start files of C, what remains writable is the source's own
LINK = ("-shared", "-nostartfiles", "-Wl,-z,defs", "-Wl,-z,now", "-Wl,--gc-sections")


@dataclass(frozen=True)
class Program:
    """A loaded library: addresses of its functions, 0 where it has none."""

    step: int
    prepare: int
    library: ctypes.CDLL = field(repr=False)


@dataclass(frozen=True)
class BuiltBlock:
    """A compiled block.

    Attributes
    ----------
    program : Program
    path : Path
        The shared library; its header, source and glue lie beside it.
    hash : str
        Over declaration, source, expressions, compiler and flags.
    seconds : float
        This call took.
    from_cache : bool
        Whether nothing was compiled.
    """

    program: Program
    path: Path
    hash: str
    seconds: float
    from_cache: bool


def build_block(declared: Declared, expressions: Mapping[str, str] | None = None) -> BuiltBlock:
    """Compile and load a block, or take it from the cache.

    Parameters
    ----------
    expressions : mapping of parameter to C text
        As `values_of` gives them.

    Raises
    ------
    NotTrustedError
        It does not ship, and nobody has said that its code may run here.
    BuildError
        No compiler, or the source does not compile; the message has the compiler's.
    """
    if not is_trusted(declared):
        raise NotTrustedError([declared])
    begin = time.perf_counter()
    chosen = compiler()
    flags = [*FLAGS, *march("auto"), *declared.declaration.cflags]
    if declared.language == "pyx":
        flags += [*cython_source.FLAGS, *(f"-I{f}" for f in cython_source.python_headers())]
    sources = texts(declared, expressions or {})
    given = [part for name, text in sorted(sources.items()) for part in (name.encode(), text)]
    key = digest([declared.hash.encode(), *given, *tools(chosen, [*flags, *LINK])])
    # what was kept before a check was there has not passed it
    place = digest([key.encode(), Path(build_checks.__file__).read_bytes()])
    try:
        folder = open_cache("blocks") / place[:32]
        is_cached = open_entry(folder) is not None
        if not is_cached:
            _build(declared, sources, chosen, flags, folder)
            open_entry(folder)
    except CacheError as error:
        raise BuildError(str(error)) from None
    path = folder / LIBRARY
    program = _load(path, key)
    return BuiltBlock(program, path, key, time.perf_counter() - begin, is_cached)


def _build(
    declared: Declared,
    sources: Mapping[str, bytes],
    chosen: tuple[str, ...],
    flags: list[str],
    folder: Path,
) -> None:
    with building(folder.parent) as work:
        for name, text in sources.items():
            (work / name).write_bytes(text)
        # a text for the assembler may name files too; clang's own assembler does not report them
        by_gnu = ["-fno-integrated-as"] if "clang" in compiler_version(chosen) else []
        command = [*chosen, *flags, *by_gnu]
        own, allowed, read = {*sources, ASSEMBLY}, [*system_folders(chosen)], []
        try:
            if declared.language == "pyx":
                read.append(cython_source.translate(declared.name, work))
                own.add(cython_source.TRANSLATED)
                allowed += [cython_source.cython_library(), *cython_source.python_headers()]
            run([*command, "-MD", "-MF", READ, "-S", GLUE, "-o", ASSEMBLY], work)
            read.append((work / READ).read_text())
            run([*command, f"-Wa,--MD,{READ}", *LINK, ASSEMBLY, "-lm", "-o", LIBRARY], work)
            read.append((work / READ).read_text())
            refuse_foreign_files(work, read, own, allowed)
            refuse_early_code(chosen, work / LIBRARY)
            refuse_kept_numbers(chosen, work / LIBRARY)
        except BuildError as error:
            raise BuildError(
                f"block {declared.name} ({declared.path}): {link_problem(str(error)) or error}"
            ) from None
        for name in (READ, ASSEMBLY):
            (work / name).unlink()
        keep(work, folder, (LIBRARY,), {"block": declared.name, "declared": declared.hash})


@cache
def _load(path: Path, key: str) -> Program:
    """Load a library once; `key` is in its path, so that another build is another library."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"{path}: cannot be loaded ({error})") from None
    step, prepare = (_address(library, name) for name in (STEP, PREPARE))
    if not step:
        raise BuildError(f"{path}: has no step")
    return Program(step, prepare, library)


def _address(library: ctypes.CDLL, name: str) -> int:
    function = getattr(library, name, None)
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0
