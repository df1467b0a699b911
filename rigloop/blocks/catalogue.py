"""The kinds of blocks that there are, found by their place; and what a rig of them is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union

from pydantic import Field, create_model

from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.names import Word
from rig_configs.ports import Ports
from rig_configs.schema import BlockTable, Rig
from rigloop.blocks.kind import BlockKind, wired, written

PLACE = "rigloop.blocks.kinds"
DECLARATION = ".toml"


class KindError(TypeError):
    """A file of the folder of kinds is no kind; the text says what it lacks."""


@cache
def kinds() -> dict[str, BlockKind]:
    """Return every kind by its name, in the order of their names.

    Raises
    ------
    KindError
        Two kinds of one name, or a schema that does not say `kind`.
    """
    place = importlib.import_module(PLACE)
    found: dict[str, BlockKind] = {}
    for module in pkgutil.walk_packages(place.__path__, f"{PLACE}."):
        entry = importlib.import_module(module.name)
        for kind in (getattr(entry, "KIND", None), *getattr(entry, "KINDS", ())):
            if isinstance(kind, BlockKind):
                _admit(found, kind, module.name)
    return dict(sorted(found.items()))


def _admit(found: dict[str, BlockKind], kind: BlockKind, where: str) -> None:
    if kind.name in found:
        raise KindError(
            f"{where}: there is a block kind {kind.name!r} already: give it another name"
        )
    said = getattr(kind.schema.model_fields["kind"].annotation, "__args__", ())
    if said != (kind.name,):
        raise KindError(f"{where}: its schema needs the line `kind: Literal[{kind.name!r}]`")
    found[kind.name] = kind


def is_own(kind: object) -> bool:
    """Tell the name of a kind that ships from the path of a declaration, which is a kind of the rig's own."""
    return isinstance(kind, str) and kind.endswith(DECLARATION)


def find_kind(name: object) -> BlockKind | None:
    """Return the kind of this name, or of this declaration; None where there is none.

    Raises
    ------
    ConfigError
        With every mistake of the declaration.
    """
    if not isinstance(name, str):
        return None
    if not is_own(name):
        return kinds().get(name)
    # the library has the way from a declaration to a kind; it is found by its place, as all kinds are
    return importlib.import_module(f"{PLACE}.library").from_file(Path(name))


def kind_of(block: BlockTable) -> BlockKind:
    """Return the kind of a block."""
    found = find_kind(block.kind)
    assert found is not None, block.kind
    return found


def rig_model_of(data: Mapping[str, Any]) -> type[Rig]:
    """Return the schema of a rig file with these tables: blocks of every kind that ships, and of those that it names.

    Raises
    ------
    ConfigError
        With every mistake of the declarations that it names.
    """
    blocks = data.get("blocks")
    tables = blocks.values() if isinstance(blocks, dict) else ()
    named = {str(kind) for t in tables if isinstance(t, dict) and is_own(kind := t.get("kind"))}
    own: list[type[BlockTable]] = []
    mistakes: list[Mistake] = []
    for name in sorted(named):
        try:
            kind = find_kind(name)
        except ConfigError as error:
            mistakes += error.mistakes
        else:
            own += [] if kind is None else [kind.schema]
    if mistakes:
        raise ConfigError(mistakes)
    return rig_model(tuple(own))


@cache
def rig_model(own: tuple[type[BlockTable], ...] = ()) -> type[Rig]:
    """Return the schema of a rig file with blocks of every kind that ships, and of some of its own."""
    one: Any = Annotated[
        Union[(*(k.schema for k in kinds().values()), *own)],
        Field(discriminator="kind"),
    ]
    blocks: Any = Annotated[dict[Word, one], Field(min_length=1)]
    return create_model("Rig", __base__=Rig, __doc__=Rig.__doc__, blocks=(blocks, ...))


def ports_of(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of a block's table; None where it is too wrong to tell.

    Raises
    ------
    ConfigError
        The block names a mechanism that is not there, or has mistakes of its own.
    """
    try:
        found = find_kind(table.get("kind"))
    except ConfigError:  # `rig_model_of` has said so
        return None
    return None if found is None else found.ports(table)


def table_mistakes(file: str, name: str, table: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find what a kind sees in a table before any schema."""
    try:
        found = find_kind(table.get("kind"))
    except ConfigError:
        return
    if found is not None:
        yield from found.table_mistakes(file, name, table)


def paths(name: str, block: BlockTable) -> tuple[dict[str, str], dict[str, str]]:
    """Return the signal of every port of a block: as wired, and as written."""
    ports = ports_of(block.model_dump())
    assert ports is not None, name
    return wired(block, ports.read_names), written(name, block, ports.write_names)
