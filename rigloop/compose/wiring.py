"""A rig file checked in full: what each kind of block knows of itself, and what no single block can see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rig_configs.live import live_signals
from rig_configs.load import LoadedRig, Vocabulary, load_rig
from rig_configs.mistakes import Mistake
from rig_configs.schema import Rig
from rig_configs.wiring import tables
from rigloop.blocks.catalogue import kind_of, ports_of, rig_model_of, table_mistakes
from rigloop.blocks.live_tables import expand
from rigloop.compose.axis_mistakes import axis_mistakes
from rigloop.compose.live_mistakes import live_mistakes
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.plan import LOOP_SIGNALS, LOOP_UNITS, loop_signal


def load(name: str) -> LoadedRig:
    """Read a rig by name or path, checked in full: schema, tasks, wiring and units.

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    return load_rig(
        name,
        Vocabulary(rig_model_of, ports_of, other_signals, table_mistakes, rig_mistakes, expand),
    )


def rig_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find what no single block can see, and what each kind knows of its blocks."""
    yield from axis_mistakes(file, rig)
    yield from live_mistakes(file, rig)
    for name, metric in rig.metrics.items():
        if metric.measure == "settled_s" and metric.tolerance is None:
            key = f"metrics.{name}.tolerance"
            yield Mistake(file, key, "missing", "say how near to its target a settled signal stays")
    for block, config in rig.blocks.items():
        yield from kind_of(config).mistakes(file, rig, block)


def other_signals(data: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the signals that no block writes, the loop's own, the supervisor's and those of live values, with units.

    Parameters
    ----------
    data : mapping
        The tables of a rig file.
    """
    units: dict[str, str | None] = dict.fromkeys(SUPERVISOR_SIGNALS, "1")
    for task in tables(data, "tasks"):
        units |= {loop_signal(task, name): LOOP_UNITS.get(name, "1") for name in LOOP_SIGNALS}
    return units | live_signals(tables(data, "live"), tables(data, "stimuli"))
