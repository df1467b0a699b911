import json
import os

import numpy as np
import pytest
from run_manifests import run_manifest

from rigloop.run_folder.manifest import (
    HistogramBins,
    ManifestError,
    Named,
    Replay,
    Right,
    TaskFacts,
    read_manifest,
    read_timing,
    sha256_of,
    versions,
    write_manifest,
    write_timing,
)
from rt_core.doctor.check import Check, Level


def manifest(**changes):
    facts = {
        "kernels": (Named("steering", "1" * 64),),
        "tasks": {"estimation": TaskFacts(250_000, "estimation.npy", 40_000)},
        "versions": versions(),
        "host": {
            "cores": 2,
            "governor": "performance",
            "load": (0.5, 0.25),
            "virtual": True,
            "isolated": None,
        },
        "rights": (Right("memory locked", False, True, "RLIMIT_MEMLOCK is 64 KiB", "raise it"),),
        "signals": {"angle": ("estimation", "wheel/angle_rad")},
    }
    return run_manifest(**facts | changes)


def test_manifest_comes_back_as_written(tmp_path):
    written = manifest(replay=Replay(Named("a.csv", "2" * 64), "plain", 100, 512.5))
    path = write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written
    assert json.loads(path.read_text())["tasks"]["estimation"]["cycles"] == 40_000


def test_manifest_is_replaced_as_a_whole_and_leaves_nothing_else(tmp_path):
    write_manifest(tmp_path, manifest())
    with pytest.raises(ManifestError, match=r"verdict"):
        write_manifest(tmp_path, manifest(verdict="fine"))
    assert read_manifest(tmp_path).verdict == "good"
    assert os.listdir(tmp_path) == ["manifest.json"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "dream"),
        ("duration_s", -1.0),
        ("rig", {"name": "x", "sha256": "short"}),
        ("colour", "red"),
        ("format", 3),
        ("tasks", {"estimation": {"period_ns": 0, "record": "x"}}),
    ],
)
def test_manifest_of_another_form_is_refused_with_its_key(tmp_path, key, value):
    path = write_manifest(tmp_path, manifest())
    facts = json.loads(path.read_text())
    facts[key] = value
    path.write_text(json.dumps(facts))
    with pytest.raises(ManifestError, match=key) as caught:
        read_manifest(tmp_path)
    assert str(path) in str(caught.value)


def test_missing_or_broken_manifest_is_named(tmp_path):
    with pytest.raises(ManifestError, match=r"manifest\.json: cannot be read"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind":')
    with pytest.raises(ManifestError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_percentiles_bound_the_true_ones_by_a_bin(tmp_path):
    rng = np.random.default_rng(3)
    durations = np.exp(rng.normal(9, 1, 20_000))
    edges = 2.0 ** (np.arange(0, 33 * 32) / 32)
    counts, _ = np.histogram(durations, edges)
    bins = HistogramBins.of(edges, counts, durations.max())
    found = bins.percentiles()
    assert found.n == 20_000
    assert found.max == durations.max()
    for value, p in ((found.p50, 50), (found.p99, 99), (found.p99_9, 99.9)):
        true = np.percentile(durations, p, method="inverted_cdf")
        assert true <= value <= true * 2 ** (1 / 32)
    write_timing(tmp_path, {"estimation": {"late": bins}})
    assert read_timing(tmp_path) == {"estimation": {"late": bins}}


def test_percentiles_of_counts_beyond_64_bits_are_of_its_bins():
    bins = HistogramBins((0.0, 1.0, 2.0), (2**62, 2**62, 2**62), 3.0)
    found = bins.percentiles()
    assert (found.p50, found.p99, found.p99_9) == (2.0, 3.0, 3.0)


def test_histogram_that_counted_nothing_has_no_bins():
    bins = HistogramBins.of([0, 1, 2], [0, 0], 0)
    assert bins.counts == ()
    assert bins.percentiles().n == 0


def test_timing_that_contradicts_itself_is_refused(tmp_path):
    assert read_timing(tmp_path) == {}
    entry = {"estimation": {"late": {"lower_ns": [1, 2], "counts": [1], "max_ns": 2}}}
    (tmp_path / "timing.json").write_text(json.dumps(entry))
    with pytest.raises(ManifestError, match="2 bounds for 1 counts"):
        read_timing(tmp_path)


def test_hash_is_that_of_the_content(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    assert sha256_of(tmp_path / "a") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_versions_name_python_and_numpy():
    assert versions()["numpy"] == np.__version__
    assert "python" in versions()


CHECKS = (
    Check("swap", Level.RED, "on", "because", "swapoff -a"),
    Check("clock source", Level.GREEN, "tsc", "slow"),
)


def test_checks_of_the_host_come_back_as_written(tmp_path):
    written = manifest(mode="strict", checks=CHECKS)
    write_manifest(tmp_path, written)
    read = read_manifest(tmp_path)
    assert read == written
    assert read.checks[0].level is Level.RED


def test_a_manifest_from_before_there_were_checks_is_read(tmp_path):
    path = write_manifest(tmp_path, manifest())
    old = json.loads(path.read_text())
    del old["checks"], old["mode"]
    path.write_text(json.dumps(old))
    assert (read_manifest(tmp_path).checks, read_manifest(tmp_path).mode) == ((), None)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"mode": "lax"}, "mode"), ({"checks": [{"name": "swap", "level": "pink"}]}, "checks")],
)
def test_a_manifest_with_wrong_checks_is_refused(tmp_path, change, complaint):
    path = write_manifest(tmp_path, manifest(checks=CHECKS))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ManifestError, match=complaint):
        read_manifest(tmp_path)
