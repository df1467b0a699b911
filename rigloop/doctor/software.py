"""Checks of this installation, that it is the one that it says it is: packages, compiler, cache.

Checks in the form of `rt_core.doctor`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from codegen.kernels.cache import CacheError, cache_folder, open_cache
from rt_core.doctor.check import Check, Demands, Topic
from rt_core.host.facts import Host

ROOMS = ("rt_core", "codegen", "estimators", "io_bridge", "rig_configs", "rigloop")
# a package or a module; a path with a comma stands in quotes
IN_RECORD = re.compile(rf'^"?({"|".join(ROOMS)})(?:/.*)?\.(?:py|so)"?,', re.MULTILINE)
COMPILE_TIMEOUT_S = 60
CACHE_MIB = 100

NAMES = Topic(
    "package names",
    "other distributions may have packages with the names `codegen` and "
    "`estimators`, and overwrite those of rigloop",
)
COMPILER = Topic("compiler", "a kernel that is not in the cache is compiled when a run starts")
CACHE = Topic(
    "kernel cache", "a kernel that cannot be stored is compiled again each time, or not at all"
)


def package_names(host: Host, demands: Demands) -> Check:
    """Every top-level package of ours is ours alone, and is found beside the others."""
    # listed by name, not by file: an editable installation has no files of its own
    foreign = {name: sorted(set(owners) - {"rigloop"}) for name, owners in _owners().items()}
    others = sorted({owner for found in foreign.values() for owner in found})
    pip = f"{sys.executable} -m pip"
    again = f"{pip} install --force-reinstall --no-deps rigloop  # or the path of its checkout"
    if others:
        told = "; ".join(
            f"{name} is also in {', '.join(who)}" for name, who in foreign.items() if who
        )
        return NAMES.red(told, f"{pip} uninstall -y {' '.join(others)} && {again}")
    places = {name: _place(name) for name in ROOMS}
    missing = [name for name, place in places.items() if place is None]
    if missing:
        return NAMES.red(f"missing: {', '.join(missing)}", again)
    elsewhere = [f"{n} in {p}" for n, p in places.items() if p != places["rigloop"]]
    if elsewhere:
        remedy = f"unset PYTHONPATH; {again}"
        return NAMES.red(f"{'; '.join(elsewhere)}, not in {places['rigloop']}", remedy)
    return NAMES.green(f"all {len(ROOMS)} packages in {places['rigloop']}")


def _owners() -> dict[str, list[str]]:
    """Return the distributions that bring a package of each of our names.

    `packages_distributions` takes apart the list of every file that is installed, for a tenth of a second of each run.
    """
    owners: dict[str, list[str]] = {name: [] for name in ROOMS}
    for one in distributions():
        declared = (one.read_text("top_level.txt") or "").split()
        for name in set(declared or _of_files(one)).intersection(ROOMS):
            owners[name].append(one.metadata["Name"])
    return owners


def _of_files(one: Distribution) -> Iterator[str]:
    """Find the top-level packages of ours among the Python files of a distribution."""
    record = one.read_text("RECORD")
    if record is None:  # an egg
        files = [file for file in one.files or () if file.suffix == ".py"]
        yield from (file.parts[0].removesuffix(".py") for file in files)
    else:
        yield from (found[1] for found in IN_RECORD.finditer(record))


def _place(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).parents[1]


def compiler(host: Host, demands: Demands) -> Check:
    """Have the compiler read Python's headers, as it does for a kernel's face."""
    command = shlex.split(os.environ.get("CC") or "gcc")
    install = "sudo apt install gcc python3-dev"
    if shutil.which(command[0]) is None:
        return COMPILER.red(f"no {command[0]}", f"{install}  # or set CC to a compiler")
    include = sysconfig.get_paths()["include"]
    try:
        done = subprocess.run(
            [*command, f"-I{include}", "-fsyntax-only", "-x", "c", "-"],
            input="#include <Python.h>\n",
            capture_output=True,
            text=True,
            timeout=COMPILE_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return COMPILER.red(f"{command[0]}: {error}", install)
    if done.returncode:
        # the first line with a message says most; the others follow from it
        said = next((line for line in done.stderr.splitlines() if "error" in line), "it failed")
        return COMPILER.red(f"{command[0]}: {said}", install)
    return COMPILER.green(f"{shutil.which(command[0])}, headers in {include}")


def kernel_cache(host: Host, demands: Demands) -> Check:
    """The folder, or the one that it would be made in, can be written and has space."""
    try:
        folder = cache_folder()
        if folder.exists():
            open_cache()
    except CacheError as error:
        return CACHE.red(error.problem, f"export XDG_CACHE_HOME=…  # {error.remedy}")
    there = next(place for place in (folder, *folder.parents) if place.exists())
    remedy = f"export XDG_CACHE_HOME=/var/tmp  # or: mkdir -p {folder}; chmod u+rwx {folder}"
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        return CACHE.red(f"{there} cannot be written", remedy)
    state = os.statvfs(there)
    mib = state.f_bavail * state.f_frsize >> 20
    if mib < CACHE_MIB:
        return CACHE.amber(
            f"{folder}: {mib} MiB left", f"rm -r {folder}  # kernels are built again"
        )
    return CACHE.green(f"{folder}, {mib} MiB left")
