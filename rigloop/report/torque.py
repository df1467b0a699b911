"""Observed beside measured torque in the report of a replayed log: kept in the run folder, then shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import EncoderLog
from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rig_configs.json_message import decode
from rigloop.identify.compare import Judgement, judge, observe
from rigloop.identify.identify import Identification, identify, refuse_no_rotor, stretches

FACTS, PICTURE = "observed_torque.json", "observed_torque.svg"


class ObservedTorque(msgspec.Struct, frozen=True):
    """The identification on one stretch, and the observer's error on another; `words` says it."""

    identification: Identification
    judgement: Judgement
    words: list[str]


@dataclass(frozen=True)
class TorqueSection:
    """The section of the report."""

    facts: ObservedTorque
    svg: str


def keep_observed_torque(folder: Path, log: EncoderLog) -> None:
    """Identify, observe, judge, and keep both in the run folder; nothing if the log does not allow it.

    It takes a torque in N m and a stretch without hands, which the mapping names.
    """
    torque = next((name for name in log.torque if name.endswith("_nm")), None)
    free_s = log.mapping.free_s
    if torque is None or free_s is None or free_s[1] > log.duration_s:
        return
    # matplotlib loads here, not with the command line
    from rigloop.identify.view import draw, words
    from rigloop.plots.figures import as_svg

    fit, unseen = stretches(log, None, None)
    try:
        found = identify(log, torque, *fit)
        refuse_no_rotor(log, found)
        observation = observe(log, found)
        judged = judge(observation, *unseen)
    except LogError:
        # the mapping's stretch is that of another log with this header: here hands, a spring or nothing move the wheel
        return
    facts = ObservedTorque(found, judged, words(observation, judged))
    (folder / FACTS).write_bytes(msgspec.json.format(msgspec.json.encode(facts)))
    svg = as_svg(draw(found, observation, judged), "observed-torque")
    (folder / PICTURE).write_text(svg, encoding="utf-8")


def torque_section(folder: Path) -> TorqueSection | None:
    """Return the section of the report, or none if the folder has nothing for it."""
    try:
        facts = decode(read_bytes(folder / FACTS), type=ObservedTorque)
        return TorqueSection(facts, read_bytes(folder / PICTURE, MOST_KEPT_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return None
