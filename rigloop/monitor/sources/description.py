"""The description of a rig, made of its file: what a viewer on another machine knows of it."""

from __future__ import annotations

from codegen.description.mechanism import MechanismError, find, text_of
from rig_configs.load import LoadedRig
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of, paths
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import find_buses, find_guards
from rigloop.compose.shown import shown_roles
from rigloop.protocol.description import (
    DescribedBus,
    DescribedGuard,
    DescribedLive,
    DescribedMechanism,
    DescribedStimulus,
    DescribedTask,
    ToDescribe,
)


def description_of(loaded: LoadedRig) -> ToDescribe:
    """Return the description of a rig."""
    rig = loaded.rig
    return ToDescribe(
        loaded.name,
        rig.title,
        [
            DescribedTask(name, task.period_us, list(task.blocks), task.core)
            for name, task in rig.tasks.items()
        ],
        list(dict.fromkeys(shown_roles(rig).values())),
        [
            DescribedLive(name, one.unit, one.lower, one.upper, one.start, one.group or "")
            for name, one in rig.live.items()
        ],
        [DescribedStimulus(name, one.unit, one.limit) for name, one in rig.stimuli.items()],
        _guards(rig),
        _buses(rig),
        _mechanisms(rig),
        {
            name: {int(code): words for code, words in kind.faults.items()}
            for name, block in rig.blocks.items()
            if (kind := kind_of(block)).faults
        },
    )


def _guards(rig: Rig) -> list[DescribedGuard]:
    found = []
    for name, guard in find_guards(rig).items():
        writes = paths(name, guard)[1]
        found.append(DescribedGuard(name, guard.limit_nm, dict(guard.reads), dict(writes)))
    return found


def _buses(rig: Rig) -> list[DescribedBus]:
    return [
        DescribedBus(name, [*bus.drives, *bus.terminals], dict(paths(name, bus)[1]))
        for name, bus in find_buses(rig).items()
    ]


def _mechanisms(rig: Rig) -> list[DescribedMechanism]:
    found = []
    for task, config in rig.tasks.items():
        for name in config.blocks:
            block = rig.blocks[name]
            if isinstance(block, MechanismBlock) and (text := _text(block.mechanism)):
                found.append(
                    DescribedMechanism(
                        name,
                        block.mechanism.rpartition("/")[2].removesuffix(".toml"),
                        text,
                        task,
                        dict(block.reads),
                        dict(paths(name, block)[1]),
                        dict(block.options),
                        dict(block.parameters),
                    )
                )
    return found


def _text(mechanism: str) -> str:
    """Return the text of a mechanism's file; empty where it cannot be read any more."""
    try:
        return text_of(find(mechanism))
    except MechanismError:
        return ""
