"""The tables of the commands that look at a bus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rich.console import Console

from io_bridge.attendant.scan import Found, FoundSlave
from io_bridge.master.master import BringUpError
from io_bridge.slaves import words
from io_bridge.slaves.sii_contents import SiiPdo
from rig_configs.plain import line
from rigloop.console.answers import Exit, fail
from rigloop.display import tables
from rigloop.display.tables import Table
from rigloop.display.verdict import line as say_line
from rigloop.fieldbus.esi_notes import Known
from rigloop.fieldbus.health import BusHealth


@contextmanager
def speaking(interface: str, json: bool) -> Iterator[None]:
    """Turn what goes wrong on a wire into a line and an exit code."""
    try:
        yield
    except BringUpError as error:
        fail([f"{interface}: {error}"], Exit.BAD_VERDICT, json)
    except OSError as error:
        fail([error.strerror or str(error)], Exit.NOT_STARTED, json)


def _entries(pdos: list[SiiPdo], known: Known | None) -> list[dict[str, Any]]:
    """PDOs as they are mapped; with an ESI, name and type of each entry too."""
    found = []
    for pdo in pdos:
        row: dict[str, Any] = {
            "pdo": f"{pdo.index:#06x}",
            "name": pdo.name,
            "entries": [f"{index:#06x}:{sub}/{bits}" for index, sub, bits in pdo.entries],
        }
        if known is not None:
            row["names"] = [
                " ".join(known.name_of(index, sub)).strip() if index else ""
                for index, sub, _ in pdo.entries
            ]
        found.append(row)
    return found


def _esi(known: Known) -> dict[str, Any]:
    device = known.device
    return {
        "vendor": device.vendor_name,
        "type": device.type,
        "name": device.name,
        "revision": device.identity.revision,
        "clock_modes": [f"{mode.name} ({mode.activate:#06x})" for mode in device.clock_modes],
        "differs": list(known.notes),
    }


def scan_message(
    interface: str, found: Found, known: Sequence[Known | None] | None = None
) -> dict[str, Any]:
    """Return a scan as one JSON object; `known` is what ESI files say of each slave."""
    known = known or [None] * len(found.slaves)
    return {
        "interface": interface,
        "in_use": found.in_use,
        "heard": found.heard,
        "slaves": [
            {
                "position": slave.position,
                "station": slave.station,
                "name": slave.name,
                **asdict(slave.identity),
                "al_state": words.al_state(slave.al_status),
                "al_code": words.al_code(slave.al_code) if slave.al_code else "",
                "has_clock": slave.has_clock,
                "has_coe": slave.has_coe,
                "outputs": _entries(slave.outputs, esi),
                "inputs": _entries(slave.inputs, esi),
                "note": slave.note,
                "diagnosis": slave.diagnosis,
                **({} if esi is None else {"esi": _esi(esi)}),
                **({"no_esi": slave.no_esi} if slave.no_esi else {}),
            }
            for slave, esi in zip(found.slaves, known, strict=True)
        ],
    }


def print_scan(
    console: Console, interface: str, found: Found, known: Sequence[Known | None] | None = None
) -> None:
    """Print a scan as a table, and the PDOs below it, with the names that ESI files have for them."""
    looked_up = known is not None
    known = known or [None] * len(found.slaves)
    # a number that is cut is another number
    heads = [*tables.words("#", whole=True), *tables.words("name")]
    rest = ("vendor", "product", "revision", "state", "clock", "mailbox")
    heads += tables.words(*rest, whole=True)
    rows = [
        [
            str(slave.position),
            line((slave.name if esi is None else esi.device.name) or "?", 60),
            f"{slave.identity.vendor:#010x}",
            f"{slave.identity.product:#010x}",
            f"{slave.identity.revision:#x}",
            words.al_state(slave.al_status),
            "yes" if slave.has_clock else "no",
            "CoE" if slave.has_coe else "no",
        ]
        for slave, esi in zip(found.slaves, known, strict=True)
    ]
    tables.show(Table(heads, rows, f"{len(found.slaves)} slave(s) on {interface}"), console)
    for heard in found.heard:
        say_line(f"another master speaks on this wire: {heard}", console)
    for slave, esi in zip(found.slaves, known, strict=True):
        for told in map(line, _below(slave, esi, looked_up)):
            say_line(f"{slave.position} {told}", console)


def _below(slave: FoundSlave, esi: Known | None, looked_up: bool) -> Iterator[str]:
    """Lines on a slave that are too long for a table."""
    for way, pdos in (("outputs", slave.outputs), ("inputs", slave.inputs)):
        for pdo in _entries(pdos, esi):
            names = pdo.get("names", [""] * len(pdo["entries"]))
            entries = (
                f"{entry} {name}".rstrip()
                for entry, name in zip(pdo["entries"], names, strict=True)
            )
            yield f"{way} {pdo['pdo']}: " + "  ".join(entries)
    if slave.al_code:
        yield words.al_code(slave.al_code)
    yield from slave.diagnosis
    if slave.note:
        yield f"PDOs of the EEPROM: {slave.note}" if slave.has_coe else slave.note
    if esi is not None:
        if esi.device.clock_modes:
            yield "clock modes: " + ", ".join(_esi(esi)["clock_modes"])
        yield from (f"differs from its ESI: {note}" for note in esi.notes)
    elif looked_up:
        yield f"no ESI: {slave.no_esi}"


def print_health(console: Console, bus: BusHealth) -> None:
    """Print how a bus does, one row a slave."""
    rows = []
    for slave in bus.slaves:
        off = slave.dc_difference_max_ns
        rows.append(
            [
                slave.name,
                str(slave.invalid_cycles),
                f"{slave.wkc_min} of {slave.wkc_expected}",
                slave.al_state + (f", {slave.al_code}" if slave.al_code else ""),
                "" if off is None else f"{off:.0f} ns",
            ]
        )
    heads = tables.words("slave", "bad cycles", "wkc min", "AL state", "clock off by at most")
    tables.show(Table(heads, rows, f"bus, {bus.source}"), console)
    lines = [
        f"{bus.cycles} cycles, {bus.lost} frames lost, {bus.late} late, {bus.duplicated} duplicated",
        f"exchange {bus.exchange_p50_us} µs"
        + (f", p99 {bus.exchange_p99_us} µs" if bus.exchange_p99_us is not None else ""),
    ]
    if bus.dc_error_rms_ns is not None:
        locked = "locked" if bus.dc_locked else "not locked"
        lines.append(f"clock {locked}, phase error {bus.dc_error_rms_ns} ns rms")
    if bus.ring_breaks is not None:
        closed = "the ring of two interfaces is closed"
        lines.append(f"{bus.ring_gap or closed}, found open {bus.ring_breaks} times")
    if bus.stands_still:
        lines.append(bus.stands_still)
    lines += bus.events
    for sentence in lines:
        say_line(sentence, console)
