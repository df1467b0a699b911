"""Blocks that other distributions bring: entry points of the group `rigloop.blocks`, looked up without importing any.

[project.entry-points."rigloop.blocks"]
lab = "lab_blocks.rig"          # a folder of declarations and sources; a rig names lab/backlash
"""

from __future__ import annotations

import re
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

GROUP = "rigloop.blocks"
INSTALLED = re.compile(r"[A-Za-z0-9_-]{1,64}/[A-Za-z0-9_]{1,64}")


def installed_declaration(named: str) -> Path | None:
    """Return the declaration of an installed block, given its name in a rig, `ENTRY/BLOCK`; None: there is none."""
    if not INSTALLED.fullmatch(named):
        return None
    entry, _, block = named.partition("/")
    for point in metadata.entry_points(group=GROUP, name=entry):
        folder = _folder(point.value)
        if folder is not None and (folder / f"{block}.toml").is_file():
            return folder / f"{block}.toml"
    return None


def _folder(package: str) -> Path | None:
    # the first part is found on the path and the others below it: a package's own code does not run
    first, *others = package.split(".")
    spec = PathFinder.find_spec(first)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return Path(places[0], *others) if places else None
