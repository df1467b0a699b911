"""Has a model gained energy by its own steps, as at stops that a step is too long for? Seen where it shows the gain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.description.mechanism import MechanismError, find, text_of
from codegen.description.outputs import GAIN
from rig_configs.bounded import UnreadableError, parse_toml
from rig_configs.schema import Rig
from rigloop.blocks.axes import before_added
from rigloop.blocks.kinds.guard import max_given_j
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import find_guards, paths

SHARE = 0.1  # of what a motor may give to the hands
UNGUARDED_J = 0.1


def gains(rig: Rig, records: Mapping[str, np.ndarray]) -> list[str]:
    """Return a line for each model whose own steps have gained more than a tenth of what hands may be given.

    Parameters
    ----------
    records : mapping of str to structured ndarray
        Record of each task.
    """
    found = []
    for name, block in rig.blocks.items():
        if not isinstance(block, MechanismBlock):
            continue
        writes = paths(name, block)[1]
        limit_j = _limit_j(rig, set(writes.values()))
        for port in _gain_ports(block.mechanism):
            path = writes[port]
            record = next((r for r in records.values() if path in (r.dtype.names or ())), None)
            if record is None or not len(record):
                continue
            gained_j = np.asarray(record[path])
            most_j = float(np.max(gained_j - np.minimum.accumulate(gained_j)))
            if not most_j <= limit_j:
                found.append(
                    f"{path}: the model's own steps gained {most_j:.3g} J, more than {limit_j:.3g} J: a stop is too "
                    "stiff for the step; a shorter step, more substeps, or a softer stop"
                )
    return found


def _limit_j(rig: Rig, written: set[str]) -> float:
    """Return the work that a model may gain: a share of that of the guards that follow it, or else of the least one."""
    guards = find_guards(rig).values()
    follow = [g for g in guards if before_added(rig, g.reads["torque_request_nm"]) in written]
    given = [max_given_j(rig, guard) for guard in follow or guards]
    return SHARE * min(given) if given else UNGUARDED_J


def _gain_ports(mechanism: str) -> list[str]:
    # of the file alone: the equations of a mechanism take longer to make than all of a verdict
    try:
        outputs = parse_toml(text_of(find(mechanism))).get("outputs", {})
    except (MechanismError, UnreadableError):
        return []  # a run that came without its mechanism's file
    return [port for port, source in outputs.items() if source == GAIN]
