"""A rig that a benchmark derives from another one: changed in its text, comments kept, checked as any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit

from rig_configs.load import LoadedRig
from rigloop.compose.wiring import load


def derived(
    loaded: LoadedRig, folder: Path, suffix: str, change: Callable[[dict[str, Any]], None]
) -> LoadedRig:
    """Return a rig with some of its values changed, from a file of its own.

    Parameters
    ----------
    folder : Path
        Gets the file.
    suffix : str
        Added to the name of the rig.
    change : callable
        Gets the tables of the file, and changes them in place.

    Raises
    ------
    ConfigError
        The changed rig has mistakes.
    """
    document = tomlkit.parse(loaded.text)
    change(document)
    path = folder / f"{loaded.name}_{suffix}.toml"
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
    return replace(load(str(path)), origin=loaded.origin or loaded)
