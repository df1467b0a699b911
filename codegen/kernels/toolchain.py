"""The C compiler of this machine, its flags and version, and the way of built files into the cache.

Kernels, observer models and compiled blocks share it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from codegen.kernels.cache import BUILT, seal

# features of x86-64-v3, as /proc/cpuinfo spells it
V3_FLAGS = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
COMPILE_TIMEOUT_S = 600


class BuildError(RuntimeError):
    """Code cannot be compiled on this machine; the message has the remedy."""


@cache
def compiler(wanted: str | None = None) -> tuple[str, ...]:
    """Command of the compiler: the option, CC of the environment, else gcc or cc."""
    given = wanted or os.environ.get("CC")
    choices = [shlex.split(given)] if given else [["gcc"], ["cc"]]
    for command in choices:
        if command and (found := shutil.which(command[0])):
            return (found, *command[1:])
    names = " or ".join(repr(command[0]) for command in choices if command)
    raise BuildError(
        f"no C compiler {names}: install one (Debian: apt install gcc), set CC or the option compiler"
    )


@cache
def compiler_version(compiler: tuple[str, ...]) -> str:
    """First line of what a compiler says of its version."""
    asked = subprocess.run([*compiler, "--version"], capture_output=True, text=True, timeout=30)
    return asked.stdout.splitlines()[0] if asked.stdout else ""


@cache
def system_folders(compiler: tuple[str, ...]) -> tuple[str, ...]:
    """Folders in which a compiler looks for the headers of its system, without links.

    Raises
    ------
    BuildError
        It does not say.
    """
    asked = subprocess.run(
        [*compiler, "-E", "-v", "-x", "c", os.devnull],
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ | {"LC_ALL": "C"},
    )
    listed = asked.stderr.partition("#include <...> search starts here:\n")[2]
    folders = listed.partition("End of search list.")[0].splitlines()
    if not folders:
        raise BuildError(
            f"{' '.join(compiler)} does not say where its headers are: take gcc or clang"
        )
    return tuple(str(Path(folder.strip()).resolve()) for folder in folders)


def march(wanted: str) -> list[str]:
    """-march option: a baseline, never `native`, so that the same binary runs on like machines."""
    if wanted not in ("auto", "none"):
        return [f"-march={wanted}"]
    if wanted == "none" or platform.machine() not in ("x86_64", "AMD64"):
        return []
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ["-march=x86-64"]
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return ["-march=x86-64-v3" if set(flags.split()) >= V3_FLAGS else "-march=x86-64"]


def tools(compiler: tuple[str, ...], flags: list[str]) -> list[bytes]:
    """Return all that an object file depends on, beside its source."""
    return [
        compiler_version(compiler).encode(),
        " ".join(flags).encode(),
        version("cython").encode(),
        str(sysconfig.get_config_var("EXT_SUFFIX")).encode(),
    ]


def digest(parts: Iterable[bytes]) -> str:
    """Hash over parts, in which no byte can move from one to the next."""
    made = hashlib.sha256()
    for part in parts:
        made.update(len(part).to_bytes(8, "little") + part)
    return made.hexdigest()


def keep(work: Path, folder: Path, loaded: tuple[str, ...], facts: dict[str, Any]) -> None:
    """Seal what has been built and move it to its place in the cache."""
    seal(work, loaded, facts)
    try:
        work.rename(folder)
    except OSError:
        if not (folder / BUILT).is_file():  # else another process was faster
            raise


def run(command: list[str], work: Path) -> str:
    """Run a compiler or its tool in a folder; return what it wrote.

    Raises
    ------
    BuildError
        It fails, with the last lines that it wrote, or takes too long.
    """
    try:
        done = subprocess.run(
            command, cwd=work, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise BuildError(
            f"{command[0]} took more than {COMPILE_TIMEOUT_S} s: raise the limit"
        ) from None
    if done.returncode != 0:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-15:])
        raise BuildError(f"{' '.join(command)} failed with {done.returncode}:\n{tail}")
    return done.stdout
