"""Kernels on demand: generate, compile, verify, cache by content hash; a warm start only hashes and
loads.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import shutil
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple, Protocol

from codegen.kernels.building import building
from codegen.kernels.cache import CacheError, open_cache, open_entry
from codegen.kernels.toolchain import BuildError
from codegen.kernels.toolchain import compiler as _compiler
from codegen.kernels.toolchain import digest as _digest
from codegen.kernels.toolchain import keep as _keep
from codegen.kernels.toolchain import march as _march
from codegen.kernels.toolchain import run as _run
from codegen.kernels.toolchain import tools as _tools
from codegen.options.options import KernelOptions
from rig_configs.bounded import MOST_MECHANISM_BYTES, UnreadableError, read_text

MODULE = "rigloop_kernel"
FLAGS = (
    "-std=gnu11", "-O3", "-fno-math-errno", "-ffp-contract=fast", "-fPIC", "-fvisibility=hidden", "-w",
    # a vector of values that were just stored one by one waits until they have left the store buffer
    "-fno-tree-slp-vectorize",
)  # fmt: skip
# gcc finds registers for thousands of lines in quadratic time: it compares fewer spills, and looks for
# loads that are there twice before that only; the arithmetic is the same
LONG_FLAGS = ("--param=lra-max-considered-reload-pseudos=20", "-fno-gcse-after-reload")
LONG_TEXT = 400_000  # bytes of C: from some 25 000 operations of a step on
FACE_FLAGS = ("-O1",)  # Python's side, nothing of it runs in the cycle


@dataclass(frozen=True)
class BuiltKernel:
    """A compiled, verified kernel.

    Attributes
    ----------
    module : module
        Has `Kernel` and `model_info()`.
    path : Path
        The compiled module; its sources (`kernel.c`, `access.c`, `face.pyx`, …), `reference.py` (NumPy twin) and
        `build.json` lie beside it.
    hash : str
        Over mechanism, generator, options, compiler and Python ABI.
    seconds : float
        This call took.
    from_cache : bool
        Whether nothing was generated or compiled.
    checks : dict
        Largest errors found by `codegen.kernels.verify` when it was built.
    """

    module: ModuleType
    path: Path
    hash: str
    seconds: float
    from_cache: bool
    checks: dict[str, Any]


def build_kernel(
    mechanism: Path | str,
    options: KernelOptions | None = None,
    *,
    on_stage: Callable[[str], None] | None = None,
) -> BuiltKernel:
    """Compiled kernel of a mechanism, from the cache when it has been built before.

    Parameters
    ----------
    mechanism : Path or str
        A mechanism file, or the name of one that ships.
    options : KernelOptions, optional
        Default: 1 ms, rho 0.8, kappa 1e6, two iterations, F1.
    on_stage : callable, optional
        Called with "generating", "compiling", "verifying".

    Raises
    ------
    MechanismError
        The file has mistakes; all of them are listed.
    BuildError
        No compiler or Python headers, or the compiler fails.
    VerificationError
        The kernel disagrees with its NumPy twin.
    """
    return build_module(mechanism, options, _Kernel(), on_stage=on_stage)


class Recipe(Protocol):
    """A product of a mechanism file: a kernel, or an observer model."""

    @property
    def given(self) -> tuple[str, ...]:
        """All that the sources depend on, beside mechanism, options, generator, compiler and its flags."""

    def texts(self, path: Path, options: KernelOptions) -> Mapping[str, str]:
        """Sources by file name: C, `face.pyx` and a header that stands alone for it, `reference.py`."""

    def prove(
        self, path: Path, options: KernelOptions, module: ModuleType, twin: ModuleType, work: Path
    ) -> Mapping[str, Any]:
        """Check the compiled module in a folder; return the largest errors."""


class _Kernel:
    given: tuple[str, ...] = ()

    def texts(self, path: Path, options: KernelOptions) -> Mapping[str, str]:
        from codegen.kernels.generate import generate

        sources = generate(path, options)
        return {**sources.files, "reference.py": sources.reference}

    def prove(
        self, path: Path, options: KernelOptions, module: ModuleType, twin: ModuleType, work: Path
    ) -> Mapping[str, Any]:
        from codegen.kernels.generate import program, proved_program
        from codegen.kernels.verify import StepError, stepper, verify
        from codegen.targets import cython_kernel, numpy_module

        def finer(step_s: float) -> ModuleType:
            shorter = replace(options, step_s=step_s)
            made = proved_program(path, shorter) or program(path, shorter)
            (work / "finer.py").write_text(numpy_module.text(made))
            return load_reference(work / "finer.py")

        proved = proved_program(path, options)
        if proved is None:
            checks = verify(module, twin, finer)
        else:
            with building(work) as apart:
                for name, text in cython_kernel.texts(proved).items():
                    (apart / name).write_text(text)
                _compile(apart, _compiling(options))
                checks = verify(load(apart / f"{MODULE}.so"), twin, finer)
            status = stepper(module).reset()
            if status != 0:
                raise StepError(0, status)
        (work / "finer.py").unlink(missing_ok=True)
        return checks


def build_module(
    mechanism: Path | str,
    options: KernelOptions | None,
    recipe: Recipe,
    *,
    on_stage: Callable[[str], None] | None = None,
) -> BuiltKernel:
    """Compiled module of a mechanism, from the cache when it is there.

    Raises
    ------
    BuildError
        No compiler or Python headers, or the compiler fails.
    """
    options = options or KernelOptions()
    path = _find(mechanism)
    source = _text(path).encode()
    parts = [
        *(text.encode() for text in recipe.given),
        path.stem.encode(),
        source,
        options.text().encode(),
    ]

    begin = time.perf_counter()
    by = _compiling(options)
    digest = _hash(parts, by)
    try:
        folder = open_cache() / digest[:32]
        checks = open_entry(folder)
        is_cached = checks is not None
        if checks is None:
            try:
                _build(recipe, path, options, by, folder, on_stage or (lambda stage: None))
            except OSError as error:
                raise BuildError(
                    f"{folder.parent}: no kernel can be built there: {error.strerror or error}; free some room, "
                    "or set XDG_CACHE_HOME to a folder of yours"
                ) from error
            checks = open_entry(folder) or {}
    except CacheError as error:
        raise BuildError(str(error)) from None
    module = load(folder / f"{MODULE}.so")
    return BuiltKernel(
        module, folder / f"{MODULE}.so", digest, time.perf_counter() - begin, is_cached, checks
    )


_loading = threading.Lock()


def load(path: Path) -> ModuleType:
    """Load a compiled kernel from its file; any thread may."""
    loader = importlib.machinery.ExtensionFileLoader(MODULE, str(path))
    spec = importlib.util.spec_from_file_location(MODULE, path, loader=loader)
    assert spec is not None
    # a second thread would be given the same module, while the first one still fills it
    with _loading:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    return module


def load_reference(path: Path) -> ModuleType:
    """Load the NumPy twin that lies beside a compiled kernel, given the kernel's or the twin's
    path.
    """
    file = path if path.suffix == ".py" else path.with_name("reference.py")
    spec = importlib.util.spec_from_loader(
        "rigloop_reference", _Source("rigloop_reference", str(file))
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Source(importlib.machinery.SourceFileLoader):
    """Reads the source alone: bytecode beside it would be a file that no hash covers."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _find(mechanism: Path | str) -> Path:
    path = Path(mechanism)
    if path.suffix != ".toml" and len(path.parts) == 1:
        path = Path(__file__).parents[2] / "rig_configs" / "mechanisms" / f"{mechanism}.toml"
    if path.suffix != ".toml" or not path.is_file():
        from codegen.description.mechanism import find  # raises the error with the names that ship

        return find(mechanism)
    return path


def _text(path: Path) -> str:
    try:
        return read_text(path, MOST_MECHANISM_BYTES)
    except UnreadableError:
        from codegen.description.mechanism import text_of  # raises the error of a mechanism

        return text_of(path)


def _hash(given: list[bytes], by: _Compiling) -> str:
    return _digest([*given, generator_hash(), *_tools(*by)])


class _Compiling(NamedTuple):
    compiler: tuple[str, ...]
    flags: list[str]


def _compiling(options: KernelOptions) -> _Compiling:
    flags = [*FLAGS, *_march(options.march), *options.cflags]
    return _Compiling(_compiler(options.compiler), flags)


@cache
def generator_hash() -> bytes:
    """Return the hash over the generator's own sources."""
    here = Path(__file__).parents[1]
    files = sorted(p for pattern in ("*.py", "*.in") for p in here.rglob(pattern))
    digest = hashlib.sha256()
    # rules for names, and their form in texts
    files += [here.parent / "rig_configs" / name for name in ("names.py", "plain.py")]
    for file in files:
        digest.update(file.relative_to(here.parent).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.digest()


def _build(
    recipe: Recipe,
    path: Path,
    options: KernelOptions,
    by: _Compiling,
    folder: Path,
    tell: Callable[[str], None],
) -> None:
    begin = time.perf_counter()
    tell("generating")
    with building(folder.parent) as work:
        for name, text in recipe.texts(path, options).items():
            (work / name).write_text(text)
        tell("compiling")
        _compile(work, by)
        tell("verifying")
        made = load(work / f"{MODULE}.so"), load_reference(work / "reference.py")
        checks = dict(recipe.prove(path, options, *made, work))
        checks["seconds"] = round(time.perf_counter() - begin, 3)
        _keep(work, folder, (f"{MODULE}.so", "reference.py"), checks)


def _compile(work: Path, by: _Compiling) -> None:
    include = Path(sysconfig.get_paths()["include"])
    if not (include / "Python.h").is_file():
        raise BuildError(
            f"{include / 'Python.h'} is missing: install it (Debian: apt install python3-dev)"
        )
    sources = sorted(path.name for path in work.glob("*.c"))
    objects = [name.replace(".c", ".o") for name in sources]
    compiler, flags = by
    long = _for_long_texts(work, sources)
    # the kernel and its face share no code, only types: compiled side by side
    with ThreadPoolExecutor(max_workers=1) as beside:
        kernel = beside.submit(_run, [*compiler, *flags, *long, "-c", *sources], work)
        face = _face(work, _Compiling(compiler, [*flags, *FACE_FLAGS]), include)
        kernel.result()
    _run([*compiler, *flags, "-shared", *objects, str(face), "-o", f"{MODULE}.so"], work)
    for name in objects:
        (work / name).unlink()


def _for_long_texts(work: Path, sources: list[str]) -> tuple[str, ...]:
    return LONG_FLAGS if sum((work / name).stat().st_size for name in sources) > LONG_TEXT else ()


def _face(work: Path, by: _Compiling, include: Path) -> Path:
    """Compiled `face.pyx` of a folder, from the cache where it is there already.

    A face and the header that it includes are the same for many kernels, and take compilers longer than
    most kernels.
    """
    compiler, flags = by
    text = (work / "face.pyx").read_text()
    headers = sorted(h for h in work.glob("*.h") if f'cdef extern from "{h.name}"' in text)
    sources = [work / "face.pyx", *headers]
    digest = _digest([*(s.read_bytes() for s in sources), *_tools(*by)])
    folder = open_cache("faces") / digest[:32]
    if open_entry(folder) is None:
        with building(folder.parent) as apart:
            for source in sources:
                shutil.copyfile(source, apart / source.name)
            cython = [sys.executable, "-m", "cython", "-3", "--module-name", MODULE, "face.pyx"]
            _run(cython, apart)
            _run([*compiler, *flags, f"-I{include}", "-c", "face.c"], apart)
            (apart / "face.c").unlink()
            _keep(apart, folder, ("face.o",), {})
    return folder / "face.o"


def compile_shared(work: Path, output: str, options: KernelOptions) -> None:
    """Compile all C sources of a folder into one shared library, with the flags of a kernel.

    Raises
    ------
    BuildError
        No compiler, or it fails.
    """
    compiler, flags = _compiling(options)
    sources = sorted(path.name for path in work.glob("*.c"))
    long = _for_long_texts(work, sources)
    _run([*compiler, *flags, *long, "-shared", *sources, "-lm", "-o", output], work)
