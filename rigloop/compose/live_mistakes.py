"""Live values and stimuli that would blind a guard: what it watches has to come from the sensors alone."""

from __future__ import annotations

from collections.abc import Iterator

from rig_configs.mistakes import Mistake
from rig_configs.schema import Rig
from rigloop.blocks.axes import guards_of
from rigloop.blocks.catalogue import paths
from rigloop.blocks.live_tables import LIVE, REQUEST, STIMULI


def live_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find live values and stimuli from which a signal follows that a guard watches."""
    if not rig.live and not rig.stimuli:
        return
    wires = {name: paths(name, block) for name, block in rig.blocks.items()}
    writer = {path: name for name, (_, writes) in wires.items() for path in writes.values()}
    for guard in guards_of(rig):
        watched = {p for port, p in wires[guard][0].items() if port != REQUEST}
        for home, name in (
            *((LIVE, name) for name in rig.live),
            *((STIMULI, name) for name in rig.stimuli),
        ):
            signal = _first_from(name, watched, wires, writer, rig)
            if signal is not None:
                problem = f"guard {guard!r} watches {signal!r}, which would follow from it"
                remedy = "the inputs of a guard may come only from the sensors: act on a signal that the guard limits"
                yield Mistake(file, f"{home}.{name}", problem, remedy)


def _first_from(
    name: str,
    watched: set[str],
    wires: dict[str, tuple[dict[str, str], dict[str, str]]],
    writer: dict[str, str],
    rig: Rig,
) -> str | None:
    """Return a watched signal that follows from a block, but through a bus or the decision of a guard."""
    for start in sorted(watched):
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            block = writer.get(waiting.pop())
            if block is None or block in seen or rig.blocks[block].kind in ("bus", "guard"):
                continue
            if block == name:
                return start
            seen.add(block)
            waiting += wires[block][0].values()
    return None
