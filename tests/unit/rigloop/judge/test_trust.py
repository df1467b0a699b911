"""What filters say against a run: real filters over wheels that are there, and over what is none."""

import numpy as np
import pytest

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from rigloop.compose.blocks import paths
from rigloop.judge.trust import distrust

PERIOD_S, SPAN = 1e-3, 2**17


@pytest.fixture(scope="module")
def rig(rigs):
    return rigs("steering_wheel").rig


def record(rig, angle, valid=None, span=SPAN):
    """The shipped rig's filter over angles, as its task's record has it."""
    name, config = next((n, b) for n, b in rig.blocks.items() if b.kind == "encoder_filter")
    reads, writes = paths(name, config)
    block = EncoderFilter(
        name, {"position_count": "c"}, {}, counts_per_rev=span, counter_span=span, period_s=PERIOD_S,
        bandwidth_rad_s=100.0,
    )  # fmt: skip
    n = len(angle)
    valid = np.ones(n) if valid is None else valid
    count = np.floor(angle * span / (2 * np.pi)) % span
    out = block.run(count, valid, np.ones(n))
    found = np.zeros(n, dtype=[(p, "f8") for p in ("t_ns", reads["valid"], *writes.values())])
    found["t_ns"] = 1e9 * PERIOD_S * np.arange(n)
    found[reads["valid"]] = valid
    for port, path in writes.items():
        found[path] = out[:, WRITE_PORTS.index(port)]
    return {"estimation": found}


T = PERIOD_S * np.arange(8000)
SWING = 0.5 * np.sin(3.0 * T)


def test_wheel_that_swings_is_trusted(rig):
    assert distrust(rig, record(rig, SWING), is_live=False) == ([], [])


def test_noise_of_a_thousand_counts_is_seen(rig):
    noisy = SWING + 0.05 * np.random.default_rng(1).normal(size=len(T))
    found = distrust(rig, record(rig, noisy), is_live=True)
    assert any("did not follow this signal" in words for words in found.red)


def test_noise_of_some_counts_is_told_and_no_more(rig):
    noisy = SWING + 3e-4 * np.random.default_rng(1).normal(size=len(T))
    found = distrust(rig, record(rig, noisy), is_live=True)
    assert not found.red
    assert any("times what the filter expects" in words for words in found.amber)


def test_lively_wheel_on_a_fine_encoder_is_a_wheel(rig):
    # innovations of 400 times the rounding of 20 bits, and 0.2 % of the motion
    lively = 0.5 * np.sin(3.0 * T) + 0.2 * np.sin(17.0 * T)
    found = distrust(rig, record(rig, lively, span=2**22), is_live=False)
    assert not found.red
    assert any("the motion, or the noise, is more than it is set for" in w for w in found.amber)


def test_shaking_that_is_faster_than_the_filter_is_none_that_it_follows(rig):
    shaken = 0.02 * np.sin(400.0 * T) * (1.0 + 0.5 * np.sin(90.0 * T))
    found = distrust(rig, record(rig, shaken, span=2**22), is_live=False)
    assert any("verdict.max_nis = 10000" in words for words in found.red)


def test_samples_that_no_wheel_gives_are_counted(rig):
    rng = np.random.default_rng(2)
    wild = SWING.copy()
    at = rng.random(len(T)) < 0.03
    wild[at] = rng.uniform(-3, 3, at.sum())
    found = distrust(rig, record(rig, wild), is_live=True)
    assert any(
        "impossible for a wheel, limit verdict.max_refused_percent = 2 %" in words
        for words in found.red
    )


@pytest.mark.parametrize(
    ("share", "is_live", "red"), [(0.5, False, 1), (0.5, True, 0), (0.1, False, 0)]
)
def test_samples_that_are_missing_make_a_log_bad_and_are_told_of_a_wire(rig, share, is_live, red):
    valid = (np.random.default_rng(3).random(len(T)) >= share).astype(float)
    found = distrust(rig, record(rig, SWING, valid), is_live=is_live)
    words = [w for w in (*found.red, *found.amber) if "are missing" in w]
    assert len(words) == 1
    assert len(found.red) == red


def test_samples_every_fifth_cycle_are_all_there(rig):
    valid = (np.arange(len(T)) % 5 == 0).astype(float)
    found = distrust(rig, record(rig, SWING, valid), is_live=False)
    assert not any("are missing" in words for words in (*found.red, *found.amber))


@pytest.mark.parametrize(
    ("failed", "red", "amber"), [(0, 0, 0), (5, 0, 1), (400, 1, 0), (8000, 1, 0)]
)
def test_cycles_without_a_position_are_counted(rigs, failed, red, amber):
    rig = rigs("steering_observer").rig
    name, config = next((n, b) for n, b in rig.blocks.items() if b.kind == "observer")
    writes = paths(name, config)[1]
    found = np.zeros(8000, dtype=[("t_ns", "f8"), (writes["status"], "f8")])
    found[writes["status"]][:failed] = 2.0
    found[writes["status"]][failed // 2 : failed] = np.nan
    told = distrust(rig, {"estimation": found}, is_live=True)
    assert (len(told.red), len(told.amber)) == (red, amber)
    assert all(f"no position in {failed} of 8000" in words for words in (*told.red, *told.amber))


def test_records_that_are_not_there_are_not_judged(rig):
    assert distrust(rig, {}, is_live=True) == ([], [])
    assert distrust(rig, {"estimation": record(rig, SWING)["estimation"][:0]}, is_live=True) == (
        [],
        [],
    )


@pytest.mark.parametrize(
    ("key", "limit", "valid_share", "wild_share"),
    [
        ("max_refused_percent", 10.0, 1.0, 0.03),
        ("max_missing_percent", 70.0, 0.5, 0.0),
    ],
)
def test_a_limit_is_that_of_the_rig_file(rig, key, limit, valid_share, wild_share):
    rng = np.random.default_rng(5)
    angle = SWING.copy()
    wild = rng.random(len(T)) < wild_share
    angle[wild] = rng.uniform(-3, 3, wild.sum())
    records = record(rig, angle, (rng.random(len(T)) < valid_share).astype(float))

    def reasons_against(value):
        verdict = rig.verdict.model_copy(update={key: value})
        of_rig = rig.model_copy(update={"verdict": verdict})
        red = distrust(of_rig, records, is_live=False).red
        return [words for words in red if f"verdict.{key} = {value:g}" in words]

    assert len(reasons_against(1e-9)) == 1
    assert not reasons_against(limit)
