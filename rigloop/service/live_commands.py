"""`rigloop service read`, `live` and `stimulate`: signals and live values of a rig that serves, at a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rigloop.console.answers import Exit, JsonOption, answer, fail
from rigloop.console.screen import Screen, say
from rigloop.display.tables import Table, figures, show, words
from rigloop.service.at_service import (
    KeyOption,
    OverOption,
    RigOption,
    ServiceOption,
    at_service,
    in_control,
)

if TYPE_CHECKING:
    from rigloop.protocol.answers import LiveRow
    from rigloop.protocol.client import ServiceClient

CHANGE = re.compile(r"\s*([^=\s]+)\s*=\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*)?")
REMEDY = "write NAME=VALUE, such as assistance=0.5, or with its unit, 'preload=1.5 Nm'"


def read(
    paths: Annotated[list[str], typer.Argument(metavar="SIGNAL...", help="Paths of signals.")],
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "", json: JsonOption = False,
) -> None:  # fmt: skip
    """Print the newest values of signals of the current run."""
    from rigloop.protocol.requests import Read, Signals

    with at_service(service, key, json) as client:
        values = client.ask(Read, rig=rig, paths=paths).values
        units = {row.path: row.unit for row in client.ask(Signals, rig=rig)}
    found = [(path, value, units.get(path, "")) for path, value in zip(paths, values, strict=True)]
    rows = [(path, f"{value:.6g}", unit) for path, value, unit in found]
    columns = [*words("signal"), *figures("value"), *words("unit")]
    answer(
        [{"signal": path, "value": value, "unit": unit} for path, value, unit in found],
        lambda: show(Table(columns, rows), Screen()),
        json,
    )


def live(
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]...", help="Changes, all in one cycle."),
    ] = None,
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "",
    over: OverOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Change live values of the current run, all in one cycle; without an argument, list the live values with their
    limits.
    """
    from rigloop.protocol.requests import Live

    values = _parsed(changes or [], json)
    with at_service(service, key, json) as client:
        rows = client.ask(Live, rig=rig)
        number = _write(client, rig, rows, over, {"values": values}) if values else None
    if number is None:
        listed = [{f: getattr(row, f) for f in row.__struct_fields__} for row in rows]
        answer(listed, lambda: _list(rows), json)
    else:
        said = ", ".join(f"{name} = {_shown(value)}" for name, value in values.items())
        answer({"change": number, "values": values}, lambda: say(f"change {number}: {said}"), json)


def stimulate(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Stimuli of the rig.")],
    ends: Annotated[bool, typer.Option("--end", help="End the stimuli.")] = False,
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "",
    over: OverOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Begin stimuli in the next cycle or when their condition holds; or end them."""
    from rigloop.protocol.requests import Live

    with at_service(service, key, json) as client:
        rows = client.ask(Live, rig=rig)
        number = _write(client, rig, rows, over, {"end" if ends else "begin": names})
    did = f"change {number}: {', '.join(names)} {'ended' if ends else 'begun'}"
    answer({"change": number, "ends": ends, "stimuli": names}, lambda: say(did), json)


def _parsed(changes: Sequence[str], json: bool) -> dict[str, Any]:
    """Return values by name; refuse what is no change, all at once."""
    found: dict[str, Any] = {}
    wrong = []
    for text in changes:
        match = CHANGE.fullmatch(text)
        if match is None:
            wrong.append(f"{text!r}: is not a name with a number; {REMEDY}")
        elif match[1] in found:
            wrong.append(f"{text!r}: {match[1]} is given twice; give each name once")
        else:
            number = float(match[2])
            found[match[1]] = (number, match[3].strip()) if match[3] else number
    if wrong:
        fail(wrong, Exit.WRONG_INPUT, json)
    return found


def _write(
    client: ServiceClient, rig: str, rows: Sequence[LiveRow], over: bool, keys: dict[str, Any]
) -> int:
    """Ask for a change; take control where one of the names needs it."""
    from rigloop.protocol.requests import Write

    (names,) = keys.values()
    free = {row.name for row in rows if row.who == "anyone"}
    if free.issuperset(names):
        return int(client.ask(Write, rig=rig, **keys).sequence)
    with in_control(client, rig, over) as token:
        return int(client.ask(Write, rig=rig, token=token, **keys).sequence)


def _list(rows: Sequence[LiveRow]) -> None:
    if not rows:
        say("this rig has no live values: [live.NAME] in the rig file declares one")
        return
    columns = [*words("name"), *figures("now", "lower", "upper"), *words("unit", "who", "group")]
    cells = [
        (
            row.name,
            "" if row.now is None else f"{row.now:.6g}",
            f"{row.lower:.6g}",
            f"{row.upper:.6g}",
            row.unit,
            row.who,
            row.group or ("stimulus" if row.kind == "stimulus" else ""),
        )
        for row in rows
    ]
    show(Table(columns, cells), Screen())


def _shown(value: float | tuple[float, str]) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value[0]:.6g} {value[1]}"
