"""A rig with some of its keys changed from the command line, checked as any other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake, near
from rig_configs.named_files import find_named
from rigloop.compose.derived_rig import derived

STEP = re.compile(r'"([^"]*)"|([^."]+)')


def read_setting(text: str) -> tuple[tuple[str, ...], str]:
    """Return the steps of the key and the text of the value of `blocks.wheel.bandwidth_rad_s=250`.

    Raises
    ------
    ConfigError
        It has no key or no value.
    """
    key, equals, value = text.partition("=")
    steps = tuple(quoted or plain for quoted, plain in STEP.findall(key.strip()))
    if not equals or len(steps) < 2 or not value.strip():
        remedy = "write KEY=VALUE, such as blocks.wheel.bandwidth_rad_s=250"
        raise ConfigError([Mistake("--set", text, "is not a key with a value", remedy)])
    return steps, value.strip()


def read_value(text: str) -> Any:
    """Return a value as a rig file would have it; what is no value of TOML is a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text


def changed_rig(
    loaded: LoadedRig,
    settings: Iterable[str],
    folder: Path,
    suffix: str = "changed",
    moves: bool = False,
) -> LoadedRig:
    """Return a rig with keys set; the rig itself without any.

    Parameters
    ----------
    settings : iterable of str
        `KEY=VALUE` each.
    folder : Path
        Gets the file of the changed rig.
    moves : bool
        Its text is read elsewhere: make one that names files by their whole paths, also without settings.

    Raises
    ------
    ConfigError
        Settings that are none, tables that the rig does not have, a key that is set twice, or mistakes of the
        changed rig.
    """
    changes, mistakes = _read_all(settings)
    if not changes and not mistakes and not moves:
        return loaded

    def change(document: dict[str, Any]) -> None:
        for steps, value in changes.items():
            try:
                _set(document, steps, read_value(value), str(loaded.path))
            except ConfigError as error:
                mistakes.extend(error.mistakes)
        if mistakes:
            raise ConfigError(mistakes)
        # from wherever the changed file lies
        find_named(document, loaded.path.parent)

    try:
        return derived(loaded, folder, suffix, change)
    except ConfigError as error:
        # of the file that the user knows; the changed one is gone when the command ends
        file = f"{loaded.path} with --set" if changes else str(loaded.path)
        raise ConfigError(
            [
                replace(one, file=file) if Path(one.file).parent == folder else one
                for one in error.mistakes
            ]
        ) from None


def _read_all(settings: Iterable[str]) -> tuple[dict[tuple[str, ...], str], list[Mistake]]:
    changes: dict[tuple[str, ...], str] = {}
    mistakes: list[Mistake] = []
    for text in settings:
        try:
            steps, value = read_setting(text)
        except ConfigError as error:
            mistakes += error.mistakes
            continue
        if steps in changes:
            key, both = ".".join(steps), f"{changes[steps]} and {value}"
            mistakes.append(Mistake("--set", key, f"is set twice, to {both}", "set it once"))
        changes[steps] = value
    return changes, mistakes


def _set(document: dict[str, Any], steps: tuple[str, ...], value: Any, file: str) -> None:
    table = document
    for depth, step in enumerate(steps[:-1], 1):
        if step not in table and depth <= 2 and not (depth == 1 and step in ("show", "verdict")):
            key = ".".join(steps[:depth])
            raise ConfigError([Mistake(file, key, "the rig has no such table", near(step, table))])
        table = table.setdefault(step, tomlkit.table())
        if not isinstance(table, dict):
            key = ".".join(steps[:depth])
            raise ConfigError([Mistake(file, key, "is a value, not a table", "set it as a whole")])
    table[steps[-1]] = value
