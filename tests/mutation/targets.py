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
    f"{UNIT}/io_bridge/test_{name}.py"
    for name in (
        "drive_io",
        "sent_frames",
        "slave_cells",
        "exchange_cycle",
        "exchange_clock",
        "exchange",
        "terminal_io",
        "frame_owners",
        "simulated_bus",
        "drive_modes",
        "exchange_frames",
    )
)

# those of single cases first: a histories test takes seconds
GUARD = (
    f"{UNIT}/rt_core/test_guard.py",
    f"{UNIT}/rt_core/test_guard_time.py",
    f"{UNIT}/rt_core/test_felt.py",
    f"{PROPERTY}/test_rt_core_guard.py",
)


def _own(source: str, *tests: str) -> Target:
    return Target(source, (source,), tests)


TARGETS = {
    "guard": _own("rt_core/guard.pyx", *GUARD),
    "felt": Target("rt_core/felt.pxd", ("rt_core/guard.pyx",), GUARD),
    "policy": Target(
        "rt_core/policy.pxd",
        ("rt_core/policy.pyx",),
        (f"{UNIT}/rt_core/test_policy.py",),
    ),
    "watchdog": _own(
        "rt_core/watchdog.pyx",
        f"{UNIT}/rt_core/test_watchdog.py",
        f"{LIVE}/test_watchdog.py",
    ),
    "drive_io": _own("io_bridge/drive_io.pyx", *EXCHANGE),
    "slave_io": _own("io_bridge/slave_io.pyx", *EXCHANGE),
    "terminal_io": _own("io_bridge/terminal_io.pyx", *EXCHANGE),
    "exchange_cycle": _own("io_bridge/exchange_cycle.pyx", *EXCHANGE),
    "exchange": _own("io_bridge/exchange.pyx", *EXCHANGE),
    "complaints": Target(
        "rigloop/complaints.py",
        (),
        (
            f"{UNIT}/rigloop/test_complaints.py",
            f"{UNIT}/rigloop/test_complaints_of_blocks.py",
        ),
    ),
    "verdict": Target("rigloop/verdict.py", (), (f"{UNIT}/rigloop/test_verdict.py",)),
    "tripped": Target("rigloop/tripped.py", (), (f"{UNIT}/rigloop/test_tripped.py",)),
}


def missing(targets: Iterable[str]) -> list[str]:
    """Return the files that these targets name and the project does not have."""
    chosen = [TARGETS[name] for name in targets]
    named = {name for t in chosen for name in (t.source, *t.modules, *t.tests)}
    return sorted(name for name in named if not (ROOT / name).exists())
