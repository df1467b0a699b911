"""What is mutated: the parts that decide whether torque leaves, and the tests that must notice."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Target(NamedTuple):
    """One source, what is compiled of it (nothing for Python), and the tests that answer for it."""

    source: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]


UNIT, PROPERTY, LIVE = "tests/unit", "tests/property", "tests/integration"
# the likeliest killers first
EXCHANGE = tuple(
    f"{UNIT}/io_bridge/{name}.py"
    for name in (
        "exchange/test_drive_io",
        "exchange/test_sent_frames",
        "exchange/test_slave_cells",
        "exchange/test_cycle",
        "exchange/test_exchange_clock",
        "exchange/test_exchange",
        "exchange/test_terminal_io",
        "wire/test_frame_owners",
        "buses/test_simulated_bus",
        "emulator/drive/test_modes",
        "exchange/test_frames",
    )
)

# those of single cases first: a histories test takes seconds
GUARD = (
    f"{UNIT}/rt_core/safety/test_guard.py",
    f"{UNIT}/rt_core/safety/test_guard_time.py",
    f"{UNIT}/rt_core/safety/test_guards_together.py",
    f"{UNIT}/rt_core/safety/test_felt.py",
    f"{PROPERTY}/test_rt_core_guard.py",
)
# what includes the headers of the exchange
DRIVES = ("io_bridge/exchange/cycle.pyx", "io_bridge/exchange/drive_io.pyx")


def _own(source: str, *tests: str) -> Target:
    return Target(source, (source,), tests)


TARGETS = {
    "guard": _own("rt_core/safety/guard.pyx", *GUARD),
    **{
        f"guard_{name}": Target(f"rt_core/safety/{name}.h", ("rt_core/safety/guard.pyx",), GUARD)
        for name in ("ages", "bucket", "findings", "states", "torque", "cycle")
    },
    "felt": Target("rt_core/safety/felt.pxd", ("rt_core/safety/guard.pyx",), GUARD),
    "policy": Target(
        "rt_core/lateness/policy.pxd",
        ("rt_core/lateness/policy.pyx",),
        (f"{UNIT}/rt_core/lateness/test_policy.py",),
    ),
    "watchdog": _own(
        "rt_core/loop/watchdog.pyx",
        f"{UNIT}/rt_core/loop/test_watchdog.py",
        f"{LIVE}/alone/test_watchdog.py",
    ),
    "cia402": Target("io_bridge/slaves/cia402.h", DRIVES, EXCHANGE),
    "enable_rule": Target("io_bridge/slaves/enable_rule.h", DRIVES, EXCHANGE),
    "bus_fault": Target("io_bridge/slaves/bus_fault.h", DRIVES, EXCHANGE),
    "drive_io": _own("io_bridge/exchange/drive_io.pyx", *EXCHANGE),
    "slave_io": _own("io_bridge/exchange/slave_io.pyx", *EXCHANGE),
    "terminal_io": _own("io_bridge/exchange/terminal_io.pyx", *EXCHANGE),
    "exchange_cycle": _own("io_bridge/exchange/cycle.pyx", *EXCHANGE),
    "exchange": _own("io_bridge/exchange/exchange.pyx", *EXCHANGE),
    "reasons": Target(
        "rigloop/judge/reasons.py",
        (),
        (
            f"{UNIT}/rigloop/judge/test_reasons.py",
            f"{UNIT}/rigloop/judge/test_reasons_of_blocks.py",
        ),
    ),
    "verdict": Target("rigloop/judge/verdict.py", (), (f"{UNIT}/rigloop/judge/test_verdict.py",)),
    "tripped": Target("rigloop/judge/tripped.py", (), (f"{UNIT}/rigloop/judge/test_tripped.py",)),
}


def missing(targets: Iterable[str]) -> list[str]:
    """Return the files that these targets name and the project does not have."""
    chosen = [TARGETS[name] for name in targets]
    named = {name for t in chosen for name in (t.source, *t.modules, *t.tests)}
    return sorted(name for name in named if not (ROOT / name).exists())
