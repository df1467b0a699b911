"""The kinds of blocks that there are, found by their place; and what a rig of them is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union

from pydantic import Field, create_model

from rig_configs.load import LoadedRig
from rig_configs.load import read_checked as read_as
from rig_configs.mistakes import Mistake
from rig_configs.names import Word
from rig_configs.ports import Ports
from rig_configs.schema import BlockTable, Rig
from rigloop.blocks.kind import BlockKind, wired, written

PLACE = "rigloop.blocks.kinds"


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


def kind_of(block: BlockTable) -> BlockKind:
    """Return the kind of a block."""
    return kinds()[block.kind]


@cache
def rig_model() -> type[Rig]:
    """Return the schema of a rig file with blocks of every kind."""
    one: Any = Annotated[
        Union[tuple(k.schema for k in kinds().values())],  # noqa: UP007
        Field(discriminator="kind"),
    ]
    blocks: Any = Annotated[dict[Word, one], Field(min_length=1)]
    return create_model("Rig", __base__=Rig, __doc__=Rig.__doc__, blocks=(blocks, ...))


def read_checked(path: Path) -> LoadedRig:
    """Read a rig file that has been found good: its schema alone, without what is behind it."""
    return read_as(path, rig_model())


def ports_of(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of a block's table; None where it is too wrong to tell.

    Raises
    ------
    ConfigError
        The block names a mechanism that is not there, or has mistakes of its own.
    """
    kind = table.get("kind")
    found = kinds().get(kind) if isinstance(kind, str) else None
    return None if found is None else found.ports(table)


def table_mistakes(file: str, name: str, table: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find what a kind sees in a table before any schema."""
    kind = table.get("kind")
    found = kinds().get(kind) if isinstance(kind, str) else None
    if found is not None:
        yield from found.table_mistakes(file, name, table)


def paths(name: str, block: BlockTable) -> tuple[dict[str, str], dict[str, str]]:
    """Return the signal of every port of a block: as wired, and as written."""
    ports = ports_of(block.model_dump())
    assert ports is not None, name
    return wired(block, ports.read_names), written(name, block, ports.write_names)
