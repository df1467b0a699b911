"""What the commands that look at a bus print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from io_bridge import words
from io_bridge.master import BringUpError
from io_bridge.scan import Found
from io_bridge.sii_contents import SiiPdo
from rigloop.answer import Exit, fail
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


def _entries(pdos: list[SiiPdo]) -> list[dict[str, Any]]:
    return [
        {
            "pdo": f"{pdo.index:#06x}",
            "name": pdo.name,
            "entries": [f"{index:#06x}:{sub}/{bits}" for index, sub, bits in pdo.entries],
        }
        for pdo in pdos
    ]


def scan_message(interface: str, found: Found) -> dict[str, Any]:
    """Return a scan as one JSON object."""
    return {
        "interface": interface,
        "in_use": found.in_use,
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
                "outputs": _entries(slave.outputs),
                "inputs": _entries(slave.inputs),
                "note": slave.note,
            }
            for slave in found.slaves
        ],
    }


def print_scan(console: Console, interface: str, found: Found) -> None:
    """Print a scan as a table, and the PDOs below it."""
    table = Table(
        title=f"{len(found.slaves)} slave(s) on {escape(interface)}", title_justify="left"
    )
    for heading in ("#", "name", "vendor", "product", "revision", "state", "clock", "mailbox"):
        # a number that is cut is another number
        table.add_column(heading, no_wrap=heading != "name")
    for slave in found.slaves:
        identity = slave.identity
        table.add_row(
            str(slave.position),
            escape(slave.name or "?"),
            f"{identity.vendor:#010x}",
            f"{identity.product:#010x}",
            f"{identity.revision:#x}",
            words.al_state(slave.al_status),
            "yes" if slave.has_clock else "no",
            "CoE" if slave.has_coe else "no",
        )
    console.print(table)
    for slave in found.slaves:
        for way, pdos in (("outputs", slave.outputs), ("inputs", slave.inputs)):
            for pdo in _entries(pdos):
                text = f"{slave.position} {way} {pdo['pdo']}: " + "  ".join(pdo["entries"])
                console.print(escape(text), highlight=False, soft_wrap=True)
        if slave.al_code:
            text = f"{slave.position} {words.al_code(slave.al_code)}"
            console.print(escape(text), highlight=False, soft_wrap=True)
        if slave.note:
            text = f"{slave.position} PDOs of the EEPROM: {slave.note}"
            console.print(escape(text), highlight=False, soft_wrap=True)


def print_health(console: Console, bus: BusHealth) -> None:
    """Print how a bus does, one row a slave."""
    table = Table(title=f"bus, {escape(bus.source)}", title_justify="left")
    for heading in ("slave", "bad cycles", "wkc min", "AL state", "clock off by at most"):
        table.add_column(heading)
    for slave in bus.slaves:
        off = slave.dc_difference_max_ns
        state = slave.al_state + (f", {slave.al_code}" if slave.al_code else "")
        table.add_row(
            escape(slave.name),
            str(slave.invalid_cycles),
            f"{slave.wkc_min} of {slave.wkc_expected}",
            escape(state),
            "" if off is None else f"{off:.0f} ns",
        )
    console.print(table)
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
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)
