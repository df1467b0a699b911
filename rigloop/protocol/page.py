"""Print `docs/service.md`: `python -m rigloop.protocol.page > docs/service.md`. Its tables are made of the structs."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, get_args, get_origin

import msgspec

from rigloop.console.screen import say
from rigloop.display.pages import fill
from rigloop.protocol import limits
from rigloop.protocol.answers import ANSWERS, AnyMessage, Message, Phase, Why
from rigloop.protocol.codec import commands
from rigloop.protocol.requests import Controlling, OfRig, Request


@dataclass(frozen=True)
class Key:
    """A key of a message, in words."""

    name: str
    kind: str
    default: str
    about: str


@dataclass(frozen=True)
class Described:
    """A command, a message, or a word of an enumeration."""

    name: str
    about: str
    keys: list[Key]
    answer: list[Key]
    is_list: bool = False
    controls: bool = False


def page() -> str:
    """Return the whole page."""
    common = _keys(OfRig, of=())
    text = fill(
        "service.md.jinja",
        phases=_words(Phase),
        whys=_words(Why),
        limits=limits,
        common=[_tag("command", "name of the command"), *common],
        commands=[_command(name, kind) for name, kind in commands().items()],
        messages=[_message(kind) for kind in get_args(AnyMessage)],
        table=table,
    )
    return text.rstrip("\n") + "\n"


def table(keys: list[Key], *, asked: bool = False) -> str:
    """Return keys as a table of Markdown; of a request with their defaults."""
    if not asked:
        rows = ["| key | type | |", "|---|---|---|"]
        return "\n".join([*rows, *(f"| `{k.name}` | {k.kind} | {k.about} |" for k in keys)]) + "\n"
    rows = ["| key | type | default | |", "|---|---|---|---|"]
    rows += [f"| `{k.name}` | {k.kind} | {k.default} | {k.about} |" for k in keys]
    return "\n".join(rows) + "\n"


def _command(name: str, kind: type[Request]) -> Described:
    answer: Any = ANSWERS.get(kind)
    is_list = get_origin(answer) is list
    content = get_args(answer)[0] if is_list else answer
    return Described(
        name,
        _about(kind),
        _keys(kind, of=(Request, OfRig, Controlling)),
        _keys(content, of=()) if content is not None else [],
        is_list,
        kind.controls,
    )


def _message(kind: type[Message]) -> Described:
    return Described(str(kind.__struct_config__.tag), _about(kind), _keys(kind, of=(Message,)), [])


def _keys(kind: Any, of: tuple[Any, ...]) -> list[Key]:
    """Return the keys of a struct, without those of its ancestors."""
    known = {name for ancestor in of for name in ancestor.__struct_fields__}
    return [_key(found) for found in msgspec.structs.fields(kind) if found.encode_name not in known]


def _key(found: Any) -> Key:
    described = msgspec.inspect.type_info(found.type)
    about = ""
    if isinstance(described, msgspec.inspect.Metadata):
        about = str((described.extra_json_schema or {}).get("description", ""))
        described = described.type
    default = "needed" if found.required else _default(found)
    return Key(found.encode_name, _kind(described), default, about)


def _default(found: Any) -> str:
    value = found.default if found.default is not msgspec.NODEFAULT else found.default_factory()
    if value is None or isinstance(value, bool):
        return "nil" if value is None else str(value).lower()
    return f"{value:g}" if isinstance(value, float | int) else "empty"


def _kind(info: Any) -> str:
    """Return a type in words, with its limits."""
    types = msgspec.inspect
    match info:
        case types.Metadata():
            return _kind(info.type)
        case types.UnionType():
            return " or ".join(_kind(one) for one in info.types)
        case types.NoneType():
            return "nil"
        case types.FloatType() | types.IntType():
            word = "number" if isinstance(info, types.FloatType) else "integer"
            if info.ge is None or info.le is None:
                return word
            return f"{word}, {_number(info.ge)} to {_number(info.le)}"
        case types.StrType():
            return "text" + (f", at most {info.max_length}" if info.max_length else "")
        case types.ListType():
            most = f"{info.max_length} " if info.max_length else ""
            return f"list of {'at most ' if most else ''}{most}({_kind(info.item_type)})"
        case types.TupleType():
            return f"({'; '.join(map(_kind, info.item_types))})"
        case types.DictType():
            return f"map from {_kind(info.key_type)} to {_kind(info.value_type)}"
        case types.StructType():
            return "map"
        case types.BoolType():
            return "true or false"
        case types.BytesType():
            return "bytes"
        case types.EnumType():
            return "a word of the table"
    return "any"


def _number(value: float) -> str:
    return (
        f"2^{value.bit_length() - 1}" if isinstance(value, int) and value > 10**6 else f"{value:g}"
    )


def _tag(name: str, about: str) -> Key:
    return Key(name, "text", "needed", about)


def _about(kind: Any) -> str:
    return " ".join((inspect.getdoc(kind) or "").split())


def _words(kind: type[StrEnum]) -> list[Described]:
    """Return the members of an enumeration with the docstrings behind them."""
    (body,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(body, ast.ClassDef)
    found, last = [], ""
    for node in body.body:
        match node:
            case ast.Assign(value=ast.Constant(value=str(value))):
                last = value
            case ast.Expr(value=ast.Constant(value=str(text))) if last:
                found.append(Described(last, " ".join(text.split()), [], []))
    return found


if __name__ == "__main__":
    say(page().rstrip("\n"))
