"""A run whose model blew up has a report as any other: numbers that are none, or far too large, anywhere in it."""

import json
import warnings

import numpy as np
import pytest
from run_manifests import run_manifest

from io_bridge.recording.record import RecordWriter
from rigloop.report.report import write_report
from rigloop.run_folder.manifest import (
    HistogramBins,
    TaskFacts,
    number,
    write_manifest,
    write_timing,
)

HOSTILE = (float("nan"), float("inf"), -float("inf"), 1e300, -1e300, 1e23, 0.0, 1.0)
BLOCK = ("nis", "innovation_rad", "trusted", "rejected", "jumps")
OBSERVER = (
    "nis_low",
    "nis",
    "nis_high",
    "used",
    "rejected",
    "repaired",
    "status",
    "guarded",
    "hands_nm",
    "variance/hands_nm",
)
SIGNALS = (
    *(f"loop/fast/{name}" for name in ("cycle", "late_ns", "step_ns", "bus_ns", "elapsed")),
    *(f"filter/{name}" for name in BLOCK),
    *(f"observer/{name}" for name in OBSERVER),
    "wheel/angle_rad", "wheel/rate_rad_s", "drive/torque_nm", "drive/measured_nm",
)  # fmt: skip
ROLES = {
    "angle": ("fast", "wheel/angle_rad"),
    "rate": ("fast", "wheel/rate_rad_s"),
    "torque": ("fast", "drive/torque_nm"),
    "command": ("fast", "drive/torque_nm"),
    "measured": ("fast", "drive/measured_nm"),
    "virtual": ("fast", "observer/hands_nm"),
}


def run_with(folder, fill, n=600):
    with RecordWriter(folder / "fast.npy", SIGNALS) as writer:
        rows = np.zeros(n, writer.dtype)
        rows["t_ns"] = np.arange(n) * 1_000_000
        for name in SIGNALS:
            rows[name] = fill(name, n)
        writer.append(rows)
    manifest = run_manifest(
        verdict="bad",
        tasks={"fast": TaskFacts(1_000_000, "fast.npy", n)},
        counters={f"model/{i}": number(value) for i, value in enumerate(HOSTILE)},
        signals=ROLES,
    )
    path = write_manifest(folder, manifest)
    top = float(2**62)
    write_timing(folder, {"fast": {"late": HistogramBins((0.0, top), (5, 1), top)}})
    return path


def test_a_manifest_names_what_is_not_finite_and_stays_json(tmp_path):
    path = run_with(tmp_path, lambda name, n: 0.0)

    def refuse(word):
        raise AssertionError(word)

    counters = json.loads(path.read_text(), parse_constant=refuse)["counters"]
    assert list(counters.values()) == ["nan", "inf", "-inf", 1e300, -1e300, 1e23, 0, 1]


def randomly(name, n):
    rng = np.random.default_rng(abs(hash(name)) % 2**32)
    return rng.choice(HOSTILE, n)


def trusted_nonsense(name, n):
    return 1.0 if name.endswith(("trusted", "used")) else randomly(name, n)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fill",
    [randomly, trusted_nonsense, *(lambda name, n, v=v: v for v in HOSTILE)],
    ids=["random", "trusted", *map(str, HOSTILE)],
)
def test_a_report_of_nonsense_is_a_page_with_every_section(tmp_path, fill):
    run_with(tmp_path, fill)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = write_report(tmp_path).read_text()
    assert "could not be drawn" not in page
    assert page.count("<svg") == page.count("</svg>") >= 1
    assert "nan" not in page.split("<svg")[0].lower().split("</style>")[1]
