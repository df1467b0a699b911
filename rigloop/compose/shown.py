"""The signals of a rig that are shown: those of its roles, and any others that it names."""

from __future__ import annotations

from rig_configs.schema import Rig
from rigloop.blocks.axes import torque_of
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.compose.blocks import find_guards, paths

MOST = 8  # angles and torques of axes, or channels of terminals, that are shown where a rig names nothing


def shown_roles(rig: Rig) -> dict[str, str]:
    """Return role → signal; a signal that has no role is its own. A rig that names nothing shows its axes, or its
    terminals."""
    table = rig.show.model_dump(exclude={"signals"})
    roles = {role: path for role, path in table.items() if path is not None}
    roles |= {path: path for path in rig.show.signals}
    if roles:
        return roles
    own = list(dict.fromkeys(_of_axes(rig) or _channels(rig)))
    return {path: path for path in own[:MOST]}


def _of_axes(rig: Rig) -> list[str]:
    return [
        path
        for guard, block in find_guards(rig).items()
        for path in (block.reads["angle_rad"], torque_of(rig, guard))
    ]


def _channels(rig: Rig) -> list[str]:
    return [
        paths(name, block)[1][f"{terminal}/{channel}"]
        for name, block in rig.blocks.items()
        if isinstance(block, BusBlock)
        for terminal, config in block.terminals.items()
        for channel in config.inputs
    ]
