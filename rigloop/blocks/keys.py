"""Every key that a rig file may have: its sentence, default, limits, unit and an example; what `page.py` prints."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rig_configs import units
from rig_configs.hazards import Hazard
from rig_configs.names import Line, SignalPath, Word

MOST_WORDS = 2  # of a key that takes values of several types
SIMPLE = {int: "whole number", float: "number", str: "text", bool: "true or false"}
NAMED = ((SignalPath, "signal"), (Word, "name"), (Line, "line of text"))


@dataclass(frozen=True)
class Key:
    """A key of a table.

    Attributes
    ----------
    name : str
    what : str
        Which values it takes, in words.
    limits : str
        Such as `> 0, ≤ 100`; empty: none but those of all numbers.
    unit : str
        Empty: none.
    default : str
        As TOML; empty: the key has to be there.
    is_needed : bool
    sentence : str
    example : str
        As TOML; empty: nobody gave one.
    below : str
        Heading of the table that it is; empty: it is a value.
    hazards : tuple of Hazard
        Those that its limit answers.
    """

    name: str
    what: str
    limits: str
    unit: str
    default: str
    is_needed: bool
    sentence: str
    example: str
    below: str
    hazards: tuple[Hazard, ...]


@dataclass(frozen=True)
class Table:
    """A table of the rig file: where it stands, what it is, and its keys."""

    heading: str
    about: str
    keys: tuple[Key, ...]
    model: type[BaseModel]


Examples = Mapping[tuple[type, str], Any]


def tables_of(
    heading: str,
    model: type[BaseModel],
    examples: Examples,
    leave_out: frozenset[str] = frozenset(),
) -> Iterator[Table]:
    """Return the table of a schema and those within it, each with all of its keys."""
    hints = typing.get_type_hints(model, include_extras=True)
    keys, inner = [], []
    for name, info in model.model_fields.items():
        if name in leave_out:
            continue
        below = _below(heading, name, hints[name]) if _models(hints[name]) else ""
        keys.append(_key(name, info, hints[name], model, examples, below))
        inner += [(_below(heading, name, hints[name]), m) for m in _models(hints[name])]
    yield Table(heading, inspect.getdoc(model) or "", tuple(keys), model)
    for place, found in inner:
        yield from tables_of(place, found, examples)


def _below(heading: str, name: str, hint: Any) -> str:
    """Return the heading of a table within another one."""
    path = heading.strip("[]")
    bare = _bare(hint)
    if not path:
        return f"[{name}.NAME]" if typing.get_origin(bare) is dict else f"[{name}]"
    if typing.get_origin(bare) is list:
        return f"[[{path}.{name}]]"
    return f"[{path}.{name}.NAME]" if typing.get_origin(bare) is dict else f"[{path}.{name}]"


def _key(
    name: str, info: FieldInfo, hint: Any, model: type[BaseModel], examples: Examples, below: str
) -> Key:
    default = None if info.is_required() else info.default
    shipped = (examples[base, name] for base in model.__mro__ if (base, name) in examples)
    example = next(shipped, next(iter(_found(hint, "examples")), None))
    if example in (None, {}, []):
        example = default
    if below:
        example = None  # the table has them
    return Key(
        name=name,
        what=_what(hint),
        limits=", ".join(_limits(hint)),
        unit=units.of_name(name) or "",
        default="" if default is None or isinstance(default, BaseModel) else toml(default),
        is_needed=info.is_required(),
        sentence=" ".join((info.description or sentences(model).get(name, "")).split()),
        example="" if example is None else toml(example),
        below=below,
        hazards=hazards_of(hint),
    )


def hazards_of(hint: Any) -> tuple[Hazard, ...]:
    """Return the hazards that a key of this type answers, as it says itself."""
    return tuple(_found(hint, "hazards"))


@cache
def sentences(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each key of a schema, those of its bases included."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if one.__module__.startswith("pydantic") or not issubclass(one, BaseModel):
            continue
        try:
            source = textwrap.dedent(inspect.getsource(one))
        except (OSError, TypeError):  # made while the program runs
            continue
        body = ast.parse(source).body[0]
        assert isinstance(body, ast.ClassDef)
        for key, below in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(key, ast.AnnAssign)
                and isinstance(key.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                found[key.target.id] = str(below.value.value)
    return found


def values_of(instance: BaseModel) -> Iterator[tuple[type[BaseModel], str, Any]]:
    """Return schema, key and value of everything that a rig says."""
    for name in instance.model_fields_set & type(instance).model_fields.keys():
        value = getattr(instance, name)
        yield type(instance), name, value
        inner = value.values() if isinstance(value, dict) else [value]
        for one in inner:
            if isinstance(one, BaseModel):
                yield from values_of(one)


def toml(value: Any) -> str:
    """Return a value as a rig file spells it, on one line."""
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_unset=True)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        inner = ", ".join(f"{_toml_key(k)} = {toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value)


def _toml_key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else toml(key)


def _bare(hint: Any) -> Any:
    """Take off `Annotated` and the None of an optional key."""
    while True:
        if typing.get_origin(hint) is typing.Annotated:
            hint = typing.get_args(hint)[0]
        elif typing.get_origin(hint) in (typing.Union, types.UnionType):
            rest = [a for a in typing.get_args(hint) if a is not type(None)]
            if len(rest) != 1:
                return hint
            hint = rest[0]
        else:
            return hint


def _models(hint: Any) -> list[type[BaseModel]]:
    bare = _bare(hint)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return [bare]
    return [model for inner in typing.get_args(bare) for model in _models(inner)]


def _what(hint: Any) -> str:
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        for alias, word in NAMED:
            if typing.get_args(alias)[1] in given[1:]:
                return word
        return _what(given[0])
    if origin in (typing.Union, types.UnionType):
        words = dict.fromkeys(_what(a) for a in given if a is not type(None))
        return " or ".join(words) if len(words) <= MOST_WORDS else "value"
    if origin is typing.Literal:
        return ", ".join(f"`{toml(value)}`" for value in given)
    if origin is list:
        return f"list of {_plural(_what(given[0]))}"
    if origin is dict:
        return f"table of {_plural(_what(given[1]))}"
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return "table"
    return SIMPLE.get(hint, "any value")


def _plural(word: str) -> str:
    if word.startswith(("line", "list", "table")):
        first, _, rest = word.partition(" ")
        return f"{first}s {rest}".strip()
    return (
        word if word in ("text", "true or false") or "`" in word or " or " in word else f"{word}s"
    )


LIMITS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def _limits(hint: Any) -> Iterator[str]:
    """Return the limits of a key, the closest ones where several are stated."""
    stated: dict[str, Any] = {}
    for part in _metadata(hint):
        for sign in (*LIMITS, "min_length", "max_length"):
            value = getattr(part, sign, None)
            if value is not None:
                closest = max if sign in ("ge", "gt", "min_length") else min
                stated[sign] = closest(value, stated.get(sign, value))
    for sign, mark in LIMITS.items():
        if sign in stated:
            value = stated[sign]
            yield (
                f"{mark} {value:,}".replace(",", " ")
                if isinstance(value, int)
                else f"{mark} {value:g}"
            )
    if "min_length" in stated:
        yield f"at least {stated['min_length']}"
    if "max_length" in stated:
        one = "characters" if _what(hint) in ("text", "line of text") else "of them"
        yield f"at most {stated['max_length']} {one}"


def _metadata(hint: Any) -> Iterator[Any]:
    """Return what stands beside the types of a hint, but for those of the keys of a table."""
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        for part in given[1:]:
            yield from getattr(part, "metadata", None) or [part]
        yield from _metadata(given[0])
    elif origin is dict:
        yield from _metadata(given[1])
    elif origin is not typing.Literal:
        for inner in given:
            yield from _metadata(inner)


def _found(hint: Any, name: str) -> Iterator[Any]:
    if typing.get_origin(hint) is typing.Annotated:
        for part in typing.get_args(hint)[1:]:
            yield from getattr(part, name, None) or ()
    if typing.get_origin(hint) is not typing.Literal:
        for inner in typing.get_args(hint):
            yield from _found(inner, name)
