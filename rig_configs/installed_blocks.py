"""Blocks that other distributions bring: entry points of the group `rigloop.blocks`, looked up without importing any.

[project.entry-points."rigloop.blocks"]
lab = "lab_blocks.rig"          # a folder of declarations and sources; a rig names lab/backlash
"""

from __future__ import annotations

import re
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

GROUP = "rigloop.blocks"
INSTALLED = re.compile(r"[A-Za-z0-9_-]{1,64}/[A-Za-z0-9_]{1,64}")


def installed_declarations(named: str) -> list[Path]:
    """Return the declarations of an installed block, given its name in a rig, `ENTRY/BLOCK`.

    Two distributions may have an entry of one name, and then nobody can say which block is meant.
    """
    if not INSTALLED.fullmatch(named):
        return []
    entry, _, block = named.partition("/")
    folders = (_folder(point.value) for point in metadata.entry_points(group=GROUP, name=entry))
    found = {folder / f"{block}.toml" for folder in folders if folder is not None}
    return sorted(path for path in found if path.is_file())


def _folder(package: str) -> Path | None:
    # a name without a dot is found without an import, and the others lie below it: a package's own code does not run
    first, *others = package.split(".")
    try:
        spec = find_spec(first)
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return Path(places[0], *others) if places else None
