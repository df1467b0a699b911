"""Mechanism file to validated, frozen model."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.description import outputs
from codegen.description.element_table import add_element
from codegen.description.outputs import Output
from codegen.description.repeat import expanded, reported_once
from codegen.elements import NAMING, in_order, registry, stage
from codegen.pose.assembly import assemble
from codegen.pose.built import require_mass
from codegen.system.arithmetic import NOT_SI, ArithmeticMistake, Value, evaluate
from codegen.system.system import System
from rig_configs.bounded import MOST_MECHANISM_BYTES, UnreadableError, parse_toml, read_text
from rig_configs.mistakes import ConfigError, Mistake, near
from rig_configs.names import REMEDY_NAME, file_name_problem, name_problem

MECHANISMS = Path(__file__).parents[2] / "rig_configs" / "mechanisms"
FORCES = "codegen.elements.loads"
KEPT_RATE = 1e-6  # of the largest rate: a rate that differs by more is another one
WITH_MASS = ("motor",)  # among the forces
UNIT_SUFFIX = {"rad": ("rad", "rad_s", "rad_s2"), "m": ("m", "m_s", "m_s2")}
TOP_KEYS = ("name", "gravity_m_s2", "cuts", "parameters", "outputs", "repeat")


class MechanismError(ConfigError):
    """A mechanism file cannot be used; `mistakes` has every reason."""


@dataclass(frozen=True)
class Mechanism:
    """A validated mechanism: its equations, outputs and the hash of its text."""

    name: str
    system: System
    outputs: tuple[Output, ...]
    sha256: str


def find(mechanism: Path | str) -> Path:
    """Path of a mechanism file, given its path or the name of one that ships.

    Raises
    ------
    MechanismError
        There is no such file.
    """
    path = Path(mechanism)
    if path.suffix != ".toml" and len(path.parts) == 1:
        path = MECHANISMS / f"{mechanism}.toml"
    shipped = sorted(p.stem for p in MECHANISMS.glob("*.toml"))
    if path.suffix != ".toml":
        remedy = "give a .toml file, or the name of one that ships"
    elif len(path.parts) > 1 and path.parent != MECHANISMS:
        remedy = "a rig names a file by its path from the rig's folder"
    else:
        remedy = near(str(mechanism), shipped)
    try:
        found = path.suffix == ".toml" and path.exists()
    except (OSError, ValueError):  # a name of too many bytes, or with a zero in it
        found = False
    if not found:
        raise MechanismError(
            [Mistake(str(mechanism), "mechanism", "no such mechanism file", remedy)]
        )
    return path


def load(mechanism: Path | str | Mechanism, *, long_rows: bool = False) -> Mechanism:
    """Read, check and assemble a mechanism file; one that is loaded already is returned.

    Parameters
    ----------
    long_rows : bool
        Whether rows of more than 1000 repetitions may be there, of which only the ends are written out.

    Raises
    ------
    MechanismError
        With every mistake of the file: unknown or duplicate names, unknown keys, wrong types, bad
        expressions.
    """
    if isinstance(mechanism, Mechanism):
        return mechanism
    path = find(mechanism)
    made = parse(text_of(path), path.name)
    if made.system.longer and not long_rows:
        remedy = "repeat it at most 1000 times, or take formulation = 'articulated' or 'riccati'"
        words = (
            "only kernels by formulation = 'articulated' or 'riccati' have rows of more than 1000"
        )
        raise MechanismError([
            Mistake(path.name, f"repeat.{row.name}.count", words, remedy, row.count)
            for row in made.system.longer
        ])  # fmt: skip
    return made


def text_of(path: Path) -> str:
    """Text of a mechanism file.

    Raises
    ------
    MechanismError
        It cannot be read, is not text, or is larger than any mechanism.
    """
    try:
        return read_text(path, MOST_MECHANISM_BYTES)
    except UnreadableError as error:
        mistake = Mistake(path.name, "(file)", str(error), "is it a mechanism file?")
        raise MechanismError([mistake]) from None


def parse(text: str, file: str) -> Mechanism:
    """The mechanism of a TOML text; `file` is named in mistakes, its stem is the default name.

    Raises
    ------
    MechanismError
        As `load`.
    """
    try:
        document = parse_toml(text)
    except UnreadableError as error:
        raise MechanismError([Mistake(file, "(file)", str(error), "correct the line")]) from None
    system = System(file, {}, (0.0, 0.0, 0.0))
    stem = Path(file).stem
    made = _read(document, system, stem)
    if all(_moves_nothing(mistake) for mistake in system.mistakes):
        known = len(system.mistakes)
        found = assemble(system, system.mistakes.append)
        names = [c.name for c in system.coordinates]
        system.contradicted = _contradicted(system, found.qd)
        q, qd = (dict(zip(names, map(float, x), strict=True)) for x in (found.q, found.qd))
        system.restart(q, qd)
        if len(system.mistakes) == known:
            require_mass(system)
    if system.mistakes:
        raise MechanismError(system.mistakes)
    return Mechanism(stem, system, tuple(made), hashlib.sha256(text.encode()).hexdigest())


def _contradicted(system: System, qd: Iterable[float]) -> dict[str, tuple[float, float]]:
    """Rates of the file that the constraints do not allow, with what is left of each."""
    given = [c.initial_rate for c in system.coordinates]
    least = KEPT_RATE * max(map(abs, given), default=0.0)
    return {
        c.name: (rate, float(made))
        for c, rate, made in zip(system.coordinates, given, qd, strict=True)
        if rate != 0.0 and abs(made - rate) > least
    }


def _moves_nothing(mistake: Mistake) -> bool:
    """Return whether coordinates, rows and masses are complete in spite of a mistake: an output, a cut, a force."""
    table = mistake.key.partition(".")[0]
    element = registry().get(table)
    is_force = element is not None and element.__package__ == FORCES
    return table in ("outputs", "cuts") or (is_force and table not in WITH_MASS)


def ports(mechanism: Mechanism) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ports of the mechanism's kernel as a block: those that it reads, and those that it writes."""
    system = mechanism.system
    reads = [
        f"guide/{guide.name}/{part}_{suffix}"
        for guide in system.guides
        for part, suffix in zip(
            ("position", "rate", "acceleration"), UNIT_SUFFIX[guide.coordinate.unit], strict=True
        )
    ]
    reads += [f"input/{signal.path}" for signal in system.signals]
    writes = [output.port for output in mechanism.outputs]
    return tuple(reads), (*writes, *outputs.OWN_PORTS)


def _read(document: dict[str, Any], system: System, stem: str) -> list[Output]:
    problem = file_name_problem(stem)
    if problem:
        remedy = "rename it: a mechanism's name begins names in generated code"
        system.mistake("(file)", None, f"the file's name {problem}", remedy)
    elif document.get("name", stem) != stem:
        system.mistake("name", document["name"], "is not the file's name", f'write "{stem}"')
    _parameters(_table(document, "parameters", system), system)
    if "gravity_m_s2" in document:
        gravity = document["gravity_m_s2"]
        if isinstance(gravity, str | list) and (isinstance(gravity, str) or len(gravity) == 3):
            x, y, z = system.vector("gravity_m_s2", gravity)  # type: ignore[arg-type]
            system.gravity = (x, y, z)
        else:
            system.mistake("gravity_m_s2", gravity, "is not a vector", "write [x, y, z]")

    elements = registry()
    document, origins = expanded(document, system, elements)
    unknown = [key for key in document if key not in elements and key not in TOP_KEYS]
    for key in unknown:
        system.mistake(key, None, "unknown table", near(key, [*elements, *TOP_KEYS]))
    tables = [key for key in document if key in elements]
    entries = [(key, *item) for key in tables for item in _table(document, key, system).items()]
    taken: dict[str, str] = dict.fromkeys(system.names, "parameters")
    for table, name, raw in in_order(entries):
        if stage(elements[table]) in NAMING:
            if name in taken:
                system.at = (table, name)
                system.mistake("", None, f"the name is used in {taken[name]}", "rename one")
            taken[name] = table
        add_element(elements[table], table, name, raw, system)
    if not system.coordinates and not system.mistakes:
        system.at = ()
        system.mistake("file", None, "has no coordinates", "add a point, angle or distance")
    system.at = ()
    _cuts(document.get("cuts", []), system)
    made = outputs.read(_table(document, "outputs", system), system)
    system.mistakes[:] = reported_once(system.mistakes, origins)
    system.at = ()
    return made


def _cuts(given: Any, system: System) -> None:
    """Elements that the user wants cut, where a loop goes through them."""
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        system.mistake("cuts", given, "is no list of names", 'write ["revolute.hinge"]')
        return
    known = {row.label.partition(" ")[0].replace("/", ".") for row in system.rows}
    for name in given:
        if name not in known and not system.is_excused(name):
            system.mistake("cuts", name, "is no element with rows", near(name, sorted(known)))
    system.cuts = tuple(name.replace(".", "/", 1) for name in given)


def _table(document: Mapping[str, Any], key: str, system: System) -> dict[str, Any]:
    table = document.get(key, {})
    if isinstance(table, dict):
        return table
    system.at = ()
    system.mistake(key, table, "is not a table", f"write [{key}] or [{key}.<name>]")
    return {}


def _parameters(table: Mapping[str, Any], system: System) -> None:
    system.at = ("parameters",)
    for name, raw in table.items():
        problem = name_problem(name)
        if problem:
            system.mistake(name, None, problem, REMEDY_NAME)
            system.failed.add(name)
            continue
        for ending, function in NOT_SI.items():
            if name.endswith(ending):
                remedy = f"write {function}(...) and another name"
                system.mistake(name, raw, "is not in SI units, by its name", remedy)
        try:
            system.names[name] = _parameter(raw, system.names)
        except ArithmeticMistake as error:
            if not any(system.is_excused(word) for word in re.findall(r"[A-Za-z_]\w*", str(raw))):
                system.mistake(name, raw, str(error), "correct the expression")
            system.failed.add(name)
    system.at = ()


def _parameter(raw: Any, names: Mapping[str, Value]) -> Value:
    if isinstance(raw, str):
        return evaluate(raw, names)
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        if not math.isfinite(raw):
            raise ArithmeticMistake("is not finite")
        return float(raw)
    if isinstance(raw, list) and len(raw) == 3:
        parts = [_parameter(part, names) for part in raw]
        numbers = [part for part in parts if isinstance(part, float)]
        if len(numbers) == 3:
            x, y, z = numbers
            return (x, y, z)
    raise ArithmeticMistake("is neither number, text nor three numbers")
