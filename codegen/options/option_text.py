"""Kernel options as a person writes them: `key=value` on a command line, or a table of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from codegen.options.options import KernelOptions
from rig_configs.mistakes import ConfigError, Mistake, near
from rt_core.settings import SettingsError

HINTS = get_type_hints(KernelOptions)


def from_table(file: str, table: Mapping[str, Any], **fixed: Any) -> KernelOptions:
    """Options of a table, such as `[blocks.<name>.options]`; `fixed` ones are not for it to give.

    Raises
    ------
    ConfigError
        With every mistake: unknown keys, wrong types, values out of range, contradictions.
    """
    known = [f.name for f in fields(KernelOptions) if f.name not in fixed]
    mistakes: list[Mistake] = []
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key in fixed:
            mistakes.append(Mistake(file, key, "follows from elsewhere", "leave it out", value))
        elif key not in known:
            mistakes.append(Mistake(file, key, "unknown option", near(key, known), value))
        else:
            given[key] = tuple(value) if isinstance(value, list) else value
    try:
        options = KernelOptions(**given, **fixed)
    except SettingsError as error:
        mistakes += [Mistake(file, w.key, w.problem, w.remedy, w.value) for w in error.wrong]
        options = None
    if mistakes or options is None:
        raise ConfigError(mistakes)
    return options


def from_words(words: Iterable[str]) -> KernelOptions:
    """Options of a list of `key=value`; flags are separated by commas.

    Raises
    ------
    ConfigError
        As `from_table`.
    """
    table: dict[str, Any] = {}
    mistakes = []
    for word in words:
        key, sign, text = word.partition("=")
        if not sign:
            mistakes.append(Mistake("--option", word, "has no value", "write key=value"))
        else:
            table[key] = _read(text, HINTS.get(key, str))
    try:
        options = from_table("--option", table)
    except ConfigError as error:
        raise ConfigError([*mistakes, *error.mistakes]) from None
    if mistakes:
        raise ConfigError(mistakes)
    return options


def _read(text: str, hint: Any) -> Any:
    """A word as the value that its option takes; a word that is not such a value stays text."""
    if get_origin(hint) is tuple:
        return text.split(",")
    try:
        return TypeAdapter(hint).validate_strings(text)
    except ValidationError:
        return text
