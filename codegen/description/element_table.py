"""One table of an element, `[revolute.hinge]`: its keys are checked, and the element is added to the system.

A table that lacks a key, or has a wrong one, is still read with a stand-in for that key: the mistakes of its other
keys are reported together with it. What stands in has a name that is excused everywhere, so that nothing is said of it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from pydantic import ValidationError

from codegen.elements import LAST_STAGE, stage
from codegen.system.fields import Entry
from codegen.system.system import System
from rig_configs.mistakes import near
from rig_configs.names import REMEDY_NAME, name_problem

LEFT_OUT = "left_out_of_the_table"
# one of these fits the type of any key: a name, number or vector; several; terms; a number
STAND_INS = (LEFT_OUT, *((LEFT_OUT,) * several for several in (2, 3, 4, 6)), {}, 1.0)


def add_element(element: ModuleType, table: str, name: str, raw: Any, system: System) -> None:
    """Add what one table of a mechanism file describes, or note all mistakes of the table.

    Parameters
    ----------
    element : module
        Of `codegen.elements`, with the table's `Entry` and `add`.
    table, name : str
        Of `[table.name]`.
    raw : object
        Contents of the table, as TOML has them.
    system : System
    """
    before = len(system.mistakes)
    system.at = (table, name)
    problem = name_problem(name)
    if problem:
        system.mistake("", None, problem, REMEDY_NAME)
    else:
        _read(element, name, raw, system)
    if len(system.mistakes) > before:  # tables that build on it are excused
        system.failed.add(f"{table}.{name}")
        if stage(element) < LAST_STAGE:
            system.failed.add(name)


def _read(element: ModuleType, name: str, raw: Any, system: System) -> None:
    try:
        entry: Entry = element.Entry.model_validate(raw)
    except ValidationError as error:
        details = error.errors()
        for detail in _told(details):
            _schema_mistake(detail, element.Entry, system)
        patched = _patched(element.Entry, raw, details) if isinstance(raw, dict) else None
        if patched is not None:
            wrong = {str(detail["loc"][0]) for detail in details}
            _tell_of_others(element, name, patched, set(raw) - wrong, system)
        return
    element.add(entry, name, system)


def _patched(entry: type[Entry], raw: dict[str, Any], details: list[Any]) -> Entry | None:
    """The entry with a stand-in for each required key that is missing or wrong; None if nothing fits one."""
    wrong = {str(detail["loc"][0]) for detail in details}
    patched = {key: value for key, value in raw.items() if key not in wrong}
    for key in wrong:
        field = entry.model_fields.get(key)
        if field is None or not field.is_required():
            continue
        for stand_in in STAND_INS:
            patched[key] = stand_in
            if key not in _wrong_keys(entry, patched):
                break
    try:
        return entry.model_validate(patched)
    except ValidationError:
        return None


def _wrong_keys(entry: type[Entry], raw: dict[str, Any]) -> set[str]:
    try:
        entry.model_validate(raw)
    except ValidationError as error:
        return {str(detail["loc"][0]) for detail in error.errors()}
    return set()


def _tell_of_others(
    element: ModuleType, name: str, entry: Entry, given: set[str], system: System
) -> None:
    """Note mistakes of the keys that are given; those of stand-ins, and of the table, may follow from them."""
    known = list(system.mistakes)
    excused = LEFT_OUT in system.failed
    system.failed.add(LEFT_OUT)
    element.add(entry, name, system)
    if not excused:
        system.failed.discard(LEFT_OUT)
    keys = {".".join([*system.at, key]) for key in given}
    system.mistakes[len(known) :] = [m for m in system.mistakes[len(known) :] if m.key in keys]


def _told(details: list[Any]) -> list[Any]:
    """One mistake a key: a union reports each form of the value, and the one with the deepest rows is meant."""
    by_key: dict[Any, Any] = {}
    for detail in details:
        best = by_key.setdefault(detail["loc"][:1], detail)
        if _depth(detail) > _depth(best):
            by_key[detail["loc"][:1]] = detail
    return list(by_key.values())


def _depth(detail: Any) -> int:
    return sum(isinstance(part, int) for part in detail["loc"])


def _schema_mistake(detail: Any, entry: type[Entry], system: System) -> None:
    key = str(detail["loc"][0]) if detail["loc"] else ""
    known = list(entry.model_fields)
    if detail["type"] == "extra_forbidden":
        system.mistake(key, detail["input"], "unknown key", near(key, known))
    elif detail["type"] == "missing" and len(detail["loc"]) > 1:
        # of a row of numbers that is there
        remedy = "give more; docs/models/mechanisms.md says how many"
        system.mistake(key, detail["input"], "has too few values", remedy)
    elif detail["type"] == "missing":
        system.mistake(key, None, "is missing", "add it")
    else:
        problem = detail["msg"][0].lower() + detail["msg"][1:]
        system.mistake(key, detail["input"], problem, f"keys of this table: {', '.join(known)}")
