"""The kinds of blocks that there are, found by their place; and what a rig of them is."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Union

from pydantic import Field, create_model

from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.names import Word
from rig_configs.ports import Ports
from rig_configs.schema import BlockTable, Rig
from rigloop.blocks.kind import BlockKind, wired, written

PLACE = "rigloop.blocks.kinds"
DECLARATION = ".toml"
MOST_BLOCKS_KEPT = 256
LEAST_OF_A_UNION = 2  # tables, from which the key `kind` chooses


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
        for kind in (getattr(entry, "KIND", None), *getattr(entry, "KINDS", {}).values()):
            if not isinstance(kind, BlockKind):
                continue
            if kind.name in found:
                problem = f"there is a block kind {kind.name!r} already: give it another name"
                raise KindError(f"{module.name}: {problem}")
            found[kind.name] = _with_its_name(kind, module.name)
    return dict(sorted(found.items()))


def _with_its_name(kind: BlockKind, where: str) -> BlockKind:
    said = getattr(kind.schema.model_fields["kind"].annotation, "__args__", ())
    if said != (kind.name,):
        raise KindError(f"{where}: its schema needs the line `kind: Literal[{kind.name!r}]`")
    return kind


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
        return _imported_alone(name) or kinds().get(name)
    # the library has the way from a declaration to a kind; it is found by its place, as all kinds are
    return importlib.import_module(f"{PLACE}.library").from_file(Path(name))


def _imported_alone(name: str) -> BlockKind | None:
    """Return the kind of the module, or of the declaration, of this name: a rig takes a few kinds, and waits for no
    others."""
    module = f"{PLACE}.{name}"
    if name.isidentifier() and importlib.util.find_spec(module) is not None:
        kind = getattr(importlib.import_module(module), "KIND", None)
        if isinstance(kind, BlockKind) and kind.name == name:
            return _with_its_name(kind, module)
    found: BlockKind | None = importlib.import_module(f"{PLACE}.library").KINDS.get(name)
    return found


def kind_of(block: BlockTable) -> BlockKind:
    """Return the kind of a block."""
    found = find_kind(block.kind)
    assert found is not None, block.kind
    return found


def rig_model_of(data: Mapping[str, Any]) -> type[Rig]:
    """Return the schema of a rig file with these tables: of the kinds that they name, or of every kind where a table
    names none that there is.

    Raises
    ------
    ConfigError
        With every mistake of the declarations that it names.
    """
    blocks = data.get("blocks")
    tables = blocks.values() if isinstance(blocks, dict) else ()
    given = [table.get("kind") if isinstance(table, dict) else None for table in tables]
    named = {name for name in given if isinstance(name, str)}
    found: dict[str, type[BlockTable]] = {}
    mistakes: list[Mistake] = []
    for name in sorted(named):
        try:
            kind = find_kind(name)
        except ConfigError as error:
            mistakes += error.mistakes
        else:
            found |= {} if kind is None else {name: kind.schema}
    if mistakes:
        raise ConfigError(mistakes)
    all_known = len(found) == len(named) and all(isinstance(name, str) for name in given)
    if not all_known or len(found) < LEAST_OF_A_UNION:
        found = {name: kind.schema for name, kind in kinds().items()} | found
    return rig_model(tuple(found.values()))


@cache
def rig_model(tables: tuple[type[BlockTable], ...] = ()) -> type[Rig]:
    """Return the schema of a rig file whose blocks have these tables; without any, of every kind that ships."""
    one: Any = Annotated[
        Union[(*(tables or (kind.schema for kind in kinds().values())),)],
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
    reads, writes = _paths(name, _Itself(block))
    return dict(reads), dict(writes)


class _Itself(NamedTuple):
    """A block that is only equal to itself: its tables do not change, and those who watch a run ask in every beat."""

    block: BlockTable

    def __hash__(self) -> int:
        return id(self.block)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.block is other.block


@lru_cache(maxsize=MOST_BLOCKS_KEPT)
def _paths(name: str, itself: _Itself) -> tuple[dict[str, str], dict[str, str]]:
    block = itself.block
    ports = ports_of(block.model_dump())
    assert ports is not None, name
    return wired(block, ports.read_names), written(name, block, ports.write_names)
