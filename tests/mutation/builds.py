"""A changed module in place of the installed one: compiled into a folder, and found there first by each process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
# each process of a test starts with this; what is not named stays as installed
SITE = """\
import json, os, sys
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
from importlib.util import spec_from_file_location

PLACES = json.loads({places!r})


class Changed:
    @staticmethod
    def find_spec(name, path=None, target=None):
        place = PLACES.get(name)
        if place is None:
            return None
        loader = (SourceFileLoader if place.endswith(".py") else ExtensionFileLoader)(name, place)
        return spec_from_file_location(name, place, loader=loader)


sys.meta_path.insert(0, Changed)
"""


class BuildError(Exception):
    """A change that does not compile is no mutant."""


def module_name(source: str) -> str:
    """Return the module of a source, relative to the root: rt_core/safety/guard.pyx → rt_core.safety.guard."""
    return ".".join(Path(source).with_suffix("").parts)


def build(folder: Path, source: str, text: str, modules: Sequence[str]) -> dict[str, str]:
    """Put a changed source into a folder, and compile every module that contains it.

    Parameters
    ----------
    folder
        An empty folder, for this change alone.
    source
        The file that is changed, relative to the root of the project.
    text
        The changed text.
    modules
        The .pyx files that are made of it, relative to the root: itself, or for a .pxd or a header those that
        take it in.

    Returns
    -------
    dict
        The environment of a process that shall see the change.
    """
    changed = folder / source
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(text, encoding="utf-8")
    places = {}
    if source.endswith(".py"):
        places[module_name(source)] = str(changed)
    for module in modules:
        places[module_name(module)] = str(_compile(folder, module))
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE.format(places=json.dumps(places)))
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _compile(folder: Path, module: str) -> Path:
    source = folder / module
    # a .pxd or a header is found beside the changed source first, then in the project
    text = folder / "c" / Path(module).with_suffix(".c")
    text.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists():
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text((ROOT / module).read_text(encoding="utf-8"), encoding="utf-8")
    for package in Path(module).parents[:-1]:
        for name in ("__init__.py", "__init__.pxd"):
            if (ROOT / package / name).exists():
                (folder / package / name).touch()
    own = (folder / module).with_suffix(".pxd")
    if not own.exists() and (ROOT / module).with_suffix(".pxd").exists():
        own.write_text((ROOT / module).with_suffix(".pxd").read_text(encoding="utf-8"))
    directives = (
        "boundscheck=False",
        "wraparound=False",
        "initializedcheck=False",
        "cdivision=True",
    )
    cython = [sys.executable, "-m", "cython", "-3", "--module-name", module_name(module)]
    for directive in directives:
        cython += ["-X", directive]
    out = text.with_name(text.stem + SUFFIX)
    gcc = ["gcc", "-shared", "-fPIC", "-w", "-O0", "-fno-math-errno", "-ffp-contract=off"]
    gcc += ["-D_GNU_SOURCE", f"-I{folder}", f"-I{ROOT}", f"-I{sysconfig.get_path('include')}"]
    gcc += [str(text), "-o", str(out), "-lm"]
    for command in ([*cython, "-I", folder, "-I", ROOT, source, "-o", text], gcc):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise BuildError(done.stderr)
    return out
