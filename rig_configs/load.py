"""Read a rig file: schema, tasks and wiring in one pass, all mistakes together."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.installed_blocks import INSTALLED, installed_declarations
from rig_configs.live import Expanded, not_expanded
from rig_configs.mistakes import UNKNOWN_KIND, ConfigError, Mistake, from_validation, near
from rig_configs.named_files import find_named
from rig_configs.plain import line
from rig_configs.ports import PortsOf
from rig_configs.schema import Rig
from rig_configs.task_rules import task_mistakes
from rig_configs.wiring import OtherSignals, UnitMistake, tables, wiring_mistakes

HERE = Path(__file__).parent


class Vocabulary(NamedTuple):
    """The parts that a rig may be made of; the application gives them, because it has the kinds of blocks.

    Attributes
    ----------
    model_of : callable
        From the tables of the file to the schema with all kinds that they may name. It raises `ConfigError` where a
        kind of the rig's own has mistakes.
    ports_of : callable
        From a block's table to its ports; None where the table is too wrong to tell. Mistakes that it
        raises without a file are in the block's own keys.
    other_signals : callable
        From the tables of the file to the signals that no block writes (the loop's own, the supervisor's, those of live
        values), with their units.
    table_mistakes : callable
        From file, block and table to mistakes that no schema can say.
    rig_mistakes : callable
        From file and a rig whose tasks are good and whose ports all have their signals to further mistakes.
    expand : callable
        From file and tables to those in which live values and stimuli have become blocks.
    """

    model_of: Callable[[Mapping[str, Any]], type[Rig]]
    ports_of: PortsOf
    other_signals: OtherSignals
    table_mistakes: Callable[[str, str, Mapping[str, Any]], Iterable[Mistake]] = lambda *given: ()
    rig_mistakes: Callable[[str, Rig], Iterable[Mistake]] = lambda *given: ()
    expand: Callable[[str, dict[str, Any]], Expanded] = not_expanded


@dataclass(frozen=True)
class LoadedRig:
    """A validated rig with the text that it came from."""

    name: str
    path: Path
    text: str
    rig: Rig
    files: Mapping[str, str] = field(default_factory=dict)  # that it names: as written → path
    origin: LoadedRig | None = None  # the rig that a benchmark has derived it from

    @property
    def argument(self) -> str:
        """The argument of a command line for this rig: the name of one that ships, or the path."""
        return self.name if self.path.parent == HERE / "rigs" else shlex.quote(str(self.path))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def find_rig(name: str) -> Path:
    """Return the file of a rig: a path as it is, a bare name from the rigs that ship.

    Raises
    ------
    ConfigError
        No such file, or no such rig.
    """
    if "/" in name or name.endswith(".toml"):
        path = Path(name)
        try:
            if path.exists():  # what it is, is seen when it is read
                return path
        except OSError:  # a name of too many bytes
            pass
        raise ConfigError(
            [
                Mistake(
                    name,
                    "rig",
                    "no such file",
                    "give a .toml file, or the name of a rig that ships",
                )
            ]
        )
    path = HERE / "rigs" / f"{name}.toml"
    if path.is_file():
        return path
    raise ConfigError(
        [Mistake(name, "rig", "no rig of this name ships", near(name, shipped_rigs()))]
    )


def shipped_rigs() -> list[str]:
    """Return the names of the rigs that come with the package."""
    return sorted(path.stem for path in (HERE / "rigs").glob("*.toml"))


def load_rig(name: str, vocabulary: Vocabulary) -> LoadedRig:
    """Read and check a rig file.

    Parameters
    ----------
    name : str
        Name of a rig that ships, or the path of a file.
    vocabulary : Vocabulary

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    path = find_rig(name)
    try:
        text = read_text(path)
        data = parse_toml(text)
    except UnreadableError as error:
        raise ConfigError([Mistake(str(path), "(file)", str(error), "is it a rig file?")]) from None
    file = str(path)
    files = find_named(data, path.parent)
    expanded = vocabulary.expand(file, data)
    data = expanded.data
    mistakes: list[Mistake] = [*expanded.mistakes]
    rig = None
    try:
        model = vocabulary.model_of(data)
    except ConfigError as error:
        # its block is of no kind then; all others are looked at
        mistakes += error.mistakes
        model = vocabulary.model_of({})
    try:
        rig = model.model_validate(data)
    except ValidationError as error:
        found = from_validation(file, error, model, data)
        found = [m for m in found if m.problem != UNKNOWN_KIND or m.value not in files.values()]
        mistakes += [_of_kind(m) if m.problem == UNKNOWN_KIND else m for m in found]
    mistakes += task_mistakes(file, data)
    for block, table in tables(data, "blocks").items():
        mistakes += vocabulary.table_mistakes(file, block, table)
    mistakes += wiring_mistakes(file, data, vocabulary.ports_of, vocabulary.other_signals)
    if rig is not None and all(isinstance(mistake, UnitMistake) for mistake in mistakes):
        mistakes += vocabulary.rig_mistakes(file, rig)
    if mistakes or rig is None:
        raise ConfigError(map(expanded.told, mistakes))
    return LoadedRig(line(path.stem), path, text, rig, files)


def _of_kind(mistake: Mistake) -> Mistake:
    """Say more of an unknown kind that is named like a block of a distribution."""
    if not INSTALLED.fullmatch(str(mistake.value)):
        return mistake
    places = installed_declarations(str(mistake.value))
    if not places:
        problem = "no installed distribution brings this block"
        remedy = "install the one that does, or name the path of its declaration, ending in .toml"
        return replace(mistake, problem=problem, remedy=remedy)
    brought = " and ".join(str(place) for place in places)
    return replace(
        mistake,
        problem=f"more than one installed distribution brings it: {brought}",
        remedy="uninstall one of them, or name the path of its declaration",
    )


def read_checked(
    path: Path,
    model_of: Callable[[Mapping[str, Any]], type[Rig]],
    expand: Callable[[str, dict[str, Any]], Expanded] = not_expanded,
) -> LoadedRig:
    """Read a rig file that `load_rig` has found good: its schema alone, without what is behind it."""
    text = read_text(path)
    data = parse_toml(text)
    files = find_named(data, path.parent)
    data = expand(str(path), data).data
    rig = model_of(data).model_validate(data)
    return LoadedRig(line(path.stem), path, text, rig, files)
