"""Print `docs/safety.md`: `python -m rigloop.safety.page > docs/safety.md`.

Its tables are made of the marks of the schema, the table of faults, and the settings of rigs that ship.
"""

from __future__ import annotations

import math
from typing import Any

from rig_configs.hazards import HAZARDS
from rigloop.compose.wiring import load
from rigloop.console.screen import say
from rigloop.display.pages import fill
from rigloop.inject.limits import limits_of
from rigloop.inject.request import MOST
from rigloop.safety.answers import Answer, answers_of, frame_ms
from rigloop.safety.measure import TRIES, TRIES_ON_VETH
from rigloop.safety.traced import NOT_SET, keys_against
from rigloop.safety.view import KINDS, UNSEEN, found_by

RIGS = ("steering_wheel", "fault_bench")


def page() -> str:
    """Return the whole page."""
    answers = [_first_axis(name) for name in RIGS]
    names = [f"`{name}`" for name in RIGS]
    text = fill(
        "safety.md.jinja",
        hazards=_hazards(),
        times=[_row(faults) for faults in zip(*answers, strict=True)],
        names=names,
        rigs=" and ".join(names),
        later=[_later(name) for name in RIGS],
        watchdog_ms=" and ".join(dict.fromkeys(map(_watchdog_ms, RIGS))),
        cut_off=", ".join(f"`{answer.fault.name}`" for answer in answers[0] if answer.cuts_off),
        example=_example(RIGS[0]),
        tries=TRIES,
        tries_on_veth=TRIES_ON_VETH,
        most=MOST,
    )
    return text.rstrip("\n") + "\n"


def _hazards() -> list[dict[str, str]]:
    keys = keys_against()
    return [
        {
            "title": hazard.title,
            "harm": hazard.harm,
            "limits": ", ".join(f"`{key}`" for key in keys[hazard]) or NOT_SET,
            "built_in": hazard.built_in or NOT_SET,
            "outside": hazard.outside,
        }
        for hazard in HAZARDS
    ]


def _first_axis(name: str) -> list[Answer]:
    rig = load(name).rig
    first = limits_of(rig).axis.guard
    return [answer for answer in answers_of(rig) if answer.guard == first]


def _row(answers: tuple[Answer, ...]) -> dict[str, Any]:
    first = answers[0]
    kinds = dict.fromkeys(
        UNSEEN if answer.shows_late else KINDS[answer.stated.reaction] for answer in answers
    )
    return {
        "hazard": first.fault.hazard.title,
        "fault": first.fault.name,
        "found_by": " or ".join(dict.fromkeys(map(found_by, answers))),
        "reaction": " or ".join(kinds),
        "limits": ", ".join(f"`{limit.partition('.')[2]}`" for limit in first.fault.limits)
        or NOT_SET,
        "times": [
            "" if (ms := answer.ms(answer.stated.zero)) is None else f"{ms:.4g}"
            for answer in answers
        ],
    }


def _later(name: str) -> str:
    """Return by how much the drive of the first axis of a rig is later than its guard."""
    lim = limits_of(load(name).rig)
    assert lim.axis.drive is not None
    delay_ms = lim.bus.drives[lim.axis.drive].torque_delay_ms
    return f"{frame_ms(lim):g} + {delay_ms:g} ms in `{name}`"


def _watchdog_ms(name: str) -> str:
    lim = limits_of(load(name).rig)
    return f"{lim.bus.drives[str(lim.axis.drive)].watchdog_ms:g}"


def _example(name: str) -> dict[str, str]:
    """Return the numbers of one rig that the text calculates with."""
    lim = limits_of(load(name).rig)
    assert lim.axis.drive is not None
    plant = lim.bus.drives[lim.axis.drive].plant
    assert plant is not None
    seconds = lim.ramp * lim.period_s
    gained = lim.guard.limit_nm / plant.inertia_kg_m2 * seconds
    return {
        "limit_nm": f"{lim.guard.limit_nm:g}",
        "ramp_ms": f"{seconds * 1e3:.3g}",
        "inertia": f"{plant.inertia_kg_m2:g}",
        "rate": f"{gained:.2g}",
        "angle": f"{math.degrees(gained * seconds / 2):.2g}",
        "heartbeat_ms": f"{lim.guard.heartbeat_timeout_ms:g}",
    }


if __name__ == "__main__":
    say(page().rstrip("\n"))
