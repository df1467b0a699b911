"""What a replayed run keeps of its motion seen from the end."""

import numpy as np
import pytest

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from rigloop.compose.wiring import load
from rigloop.report.smoothed import keep_smoothed, smoothed_sections

PERIOD_S, N = 200e-6, 20_000


@pytest.fixture
def loaded():
    return load("steering_wheel")


def record(loaded, seconds_of_samples=None):
    """The filter of the rig over a wheel that swings 1 rad at 1 Hz."""
    block = loaded.rig.blocks["wheel"]
    t = PERIOD_S * np.arange(N)
    count = np.rint(np.sin(2 * np.pi * t) * block.counts_per_rev / (2 * np.pi))
    encoder = EncoderFilter(
        "wheel", {"position_count": "c", "valid": "v"}, {}, counts_per_rev=block.counts_per_rev,
        period_s=PERIOD_S, bandwidth_rad_s=block.bandwidth_rad_s,
    )  # fmt: skip
    valid = np.ones(N) if seconds_of_samples is None else (t < seconds_of_samples).astype(float)
    out = encoder.run(count, valid, np.ones(N))
    found = np.zeros(N, [("t_ns", "i8"), *((f"wheel/{port}", "f8") for port in WRITE_PORTS)])
    found["t_ns"] = np.rint(1e9 * t)
    for i, port in enumerate(WRITE_PORTS):
        found[f"wheel/{port}"] = out[:, i]
    return {"estimation": found, "simulation": np.zeros(0)}


def test_the_lag_of_the_filter_is_found(loaded, tmp_path):
    keep_smoothed(tmp_path, loaded, record(loaded))
    (kept,) = smoothed_sections(tmp_path)
    assert kept.name == "wheel"
    assert kept.samples > 0.9 * N
    # 2 / w0 on the acceleration; the smoother has none, and at 1 Hz higher orders are a hundredth of that
    assert kept.lag_ms == pytest.approx(2e3 / 310.4, rel=0.03)
    # that lag times the jerk of 1 rad at 1 Hz, and the noise of the rounding
    assert kept.acceleration_rms_rad_s2 == pytest.approx(
        2 / 310.4 * (2 * np.pi) ** 3 / np.sqrt(2), rel=0.1
    )
    assert kept.svg.startswith("<svg")
    assert "smoothed" in kept.svg


def test_too_few_samples_leave_no_section(loaded, tmp_path):
    keep_smoothed(tmp_path, loaded, record(loaded, seconds_of_samples=0.01))
    assert smoothed_sections(tmp_path) == []
