"""A run that is over, good in every respect until a test takes something away."""

from __future__ import annotations

import copy
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest

from rig_configs.load import LoadedRig
from rigloop.compose.wiring import load
from rigloop.run_folder import messages
from rigloop.run_folder.run_end import Ended, Final, Supervision

CYCLES = 10_000


@dataclass
class Run:
    """What is known of a run; each part may be changed before it is judged."""

    loaded: LoadedRig
    signals: dict[str, float]
    seen: Supervision
    report: messages.Report
    records: dict[str, Any]
    rows: dict[str, int]
    rings: dict[str, dict[str, int]]
    code: int | None = 0
    seconds: float | None = 5.0

    @property
    def ended(self) -> Ended:
        final = Final(self.signals, {}, {}, self.rings)
        return Ended(self.seen, final, self.code)

    def set_verdict(self, **limits: Any) -> None:
        rig = self.loaded.rig.model_copy(
            update={"verdict": self.loaded.rig.verdict.model_copy(update=limits)}
        )
        self.loaded = LoadedRig(self.loaded.name, self.loaded.path, self.loaded.text, rig)


@pytest.fixture(scope="session")
def rigs():
    """Keep the rigs that ship, each read once."""
    found: dict[str, LoadedRig] = {}

    def take(name: str) -> LoadedRig:
        if name not in found:
            found[name] = load(name)
        return copy.copy(found[name])

    return take


@pytest.fixture
def good_run(rigs):
    """Give a good run of five seconds, of a rig that ships."""

    def make(name: str = "steering_wheel") -> Run:
        loaded = rigs(name)
        signals: dict[str, float] = defaultdict(float)
        for task in loaded.rig.tasks:
            signals[f"loop/{task}/cycle"] = float(CYCLES)
        return Run(
            loaded,
            signals,
            Supervision(armed_s=5.0),
            messages.Report(at_rest=True, real_time=True),
            {task: {"rows": CYCLES} for task in loaded.rig.tasks},
            dict.fromkeys(loaded.rig.tasks, CYCLES),
            {
                task: {"dropped": 0, "unwritten": 0, "unwritten_errno": 0}
                for task in loaded.rig.tasks
            },
        )

    return make
