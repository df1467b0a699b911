"""The emulator and the loops of hostile.pyx, compiled for a fuzzing run."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNDER_TEST = (
    *("esc_*", "coe*", "complete_access", "object_dictionary", "pdo_mapping", "topology", "frame"),
    *(
        "segment",
        "ring_pass",
        "datagram_pass",
        "passage",
        "slave_*",
        "drive_device",
        "drive_plant",
        "devices/*",
        "quirks/*",
    ),
    *("link", "cycle_frames", "exchange*", "drive_io", "terminal_io", "cia402", "clock_lock"),
)
"""Modules of io_bridge: the emulator, and what takes the replies of a cycle apart."""
DIRECTIVES = ("boundscheck", "wraparound", "initializedcheck")
SANITIZE = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g", "-O1")


def compile_module(source: Path, module: str, folder: Path, *flags: str) -> None:
    """Compile one .pyx into a folder, as CMakeLists.txt does but for the flags."""
    text = folder / Path(*module.split(".")).with_suffix(".c")
    text.parent.mkdir(parents=True, exist_ok=True)
    options = [f"-X{name}=False" for name in DIRECTIVES] + ["-Xcdivision=True"]
    cython = [sys.executable, "-m", "cython", "-3", "--module-name", module, *options]
    subprocess.run([*cython, "-I", ROOT, source, "-o", text], check=True)
    out = text.with_name(text.stem + sysconfig.get_config_var("EXT_SUFFIX"))
    include = f"-I{sysconfig.get_path('include')}"
    gcc = ["gcc", "-shared", "-fPIC", "-w", "-D_GNU_SOURCE", *flags, include]
    subprocess.run([*gcc, text, "-o", out, "-lm"], check=True)


def compile_loops(folder: Path, *flags: str) -> None:
    """Compile hostile.pyx into a folder."""
    compile_module(Path(__file__).with_name("hostile.pyx"), "hostile", folder, *flags)


def compile_with_sanitizers(folder: Path) -> None:
    """Compile all that is under test with AddressSanitizer and UBSan; the rest of the room is linked
    beside it."""
    room = ROOT / "io_bridge"
    for path in room.rglob("*"):
        if path.suffix in (".py", ".toml") and "__pycache__" not in path.parts:
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    sources = {path for name in UNDER_TEST for path in room.glob(f"{name}.pyx")}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(
                compile_module,
                source,
                ".".join(source.relative_to(ROOT).with_suffix("").parts),
                folder,
                *SANITIZE,
            )
            for source in sorted(sources)
        ]
        jobs.append(pool.submit(compile_loops, folder, *SANITIZE))
        for job in jobs:
            job.result()


def sanitizers() -> list[str]:
    """Return the libraries to load first; empty where gcc has none."""
    found = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return found if all("/" in path for path in found) else []


def environment(folder: Path, libraries: list[str]) -> dict[str, str]:
    """Return the environment in which the sanitized modules take the place of the installed ones."""
    return os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
        # every device is a block of its own, so that its ends are guarded
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
