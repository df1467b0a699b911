"""A log that is looked at: verdict, policies, and the mapping that is written."""

import tomllib

import numpy as np
import pytest

from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import read_log
from rig_configs.log_schema import parse_mapping
from rigloop.logs.check import check_log, mapping_text

T = np.arange(2000)
SWING = np.rint(5000 + 3000 * np.sin(5e-3 * T)).astype(int)


def write(folder, counts, stamp=None):
    stamp = T * 1e-3 if stamp is None else stamp
    path = folder / "log.csv"
    rows = "".join(f"{t:.6g},{c}\n" for t, c in zip(stamp, counts, strict=True))
    path.write_text("# 10000 counts/rev\nt_s,enc_count\n" + rows)
    return path


def with_policy(mapping, **policy):
    return mapping.model_copy(update={"policy": policy})


def test_clean_log_is_good_and_its_mapping_reads_it_again(tmp_path):
    path = write(tmp_path, SWING)
    found, mapping = check_log(path)
    assert (found.good, found.faults, found.mapping_from) == (True, [], "guessed")
    again = parse_mapping(mapping_text(mapping, found.certainty), "written")
    assert again == mapping
    assert "% sure" in mapping_text(mapping, found.certainty)
    np.testing.assert_array_equal(read_log(path, again).position_count, SWING)


def test_policies_drop_hold_keep_and_refuse(tmp_path):
    counts = SWING.copy()
    counts[300] += 900
    counts[700:] += 2500
    path = write(tmp_path, counts)
    _, mapping = check_log(path)
    usual = read_log(path, mapping)
    assert len(usual.t_s) == 1999
    # a jump is taken off, but for what the motion went meanwhile
    np.testing.assert_allclose(usual.position_count, np.delete(SWING, 300), atol=16)
    held = read_log(path, with_policy(mapping, spike="hold"))
    assert held.position_count[300] == SWING[299]
    kept = read_log(path, with_policy(mapping, **{"index jump": "keep"}))
    assert kept.position_count[-1] == counts[-1]
    dropped = read_log(path, with_policy(mapping, **{"index jump": "drop"}))
    assert dropped.row[-1] == 699
    refusing = with_policy(mapping, spike="refuse")
    with pytest.raises(LogError, match="spike at row 300"):
        read_log(path, refusing)
    found, _ = check_log(path, mapping=refusing)
    assert not found.good
    assert "spike at row 300 is refused" in found.reasons[-1]
    # and shown as if nobody had refused it
    assert (found.samples, found.range_rad) == (1999, check_log(path, mapping=mapping)[0].range_rad)


def test_policy_that_makes_no_sense_is_refused_with_those_that_do(tmp_path):
    path = write(tmp_path, SWING)
    _, mapping = check_log(path)
    with pytest.raises(LogError, match="gap cannot hold, but drop, split, refuse"):
        read_log(path, with_policy(mapping, gap="hold"))
    with pytest.raises(LogError, match="no kind of fault spikes"):
        read_log(path, with_policy(mapping, spikes="hold"))
    with pytest.raises(LogError, match="no kind of fault spikes"):
        check_log(path, mapping=with_policy(mapping, spikes="refuse"))


def test_gap_that_is_split_is_cut_out_of_the_time(tmp_path):
    keep = (T < 800) | (T >= 900)
    path = write(tmp_path, SWING[keep], T[keep] * 1e-3)
    _, mapping = check_log(path)
    assert read_log(path, mapping).duration_s == pytest.approx(1.999)
    assert read_log(path, with_policy(mapping, gap="split")).duration_s == pytest.approx(1.899)


def test_encoder_that_was_away_for_long_makes_a_log_bad(tmp_path):
    counts = SWING.copy()
    counts[400:560] = 0
    found, _ = check_log(write(tmp_path, counts))
    assert found.counts == {"all zeros": 1}
    assert any("all zeros for 0.16 s from row 400" in reason for reason in found.reasons)
    counts = SWING.copy()
    counts[400:410] = 0
    assert check_log(write(tmp_path, counts))[0].good


def test_milliseconds_taken_as_seconds_and_degrees_as_counts_are_bad(tmp_path):
    path = write(tmp_path, SWING, T)
    _, guessed = check_log(path)
    wrong = guessed.model_copy(update={"time": guessed.time.model_copy(update={"unit": "s"})})
    found, _ = check_log(path, mapping=wrong)
    assert any("ms taken as s" in reason for reason in found.reasons)
    path = write(tmp_path, np.round(30 * np.sin(5e-3 * T), 2))
    wrong = guessed.model_copy(update={"time": wrong.time})
    found, _ = check_log(path, mapping=wrong)
    assert any("degrees or radians taken as counts" in reason for reason in found.reasons)


def test_stretch_without_hands_stays_with_its_log(tmp_path):
    path = write(tmp_path, SWING)
    _, mapping = check_log(path)
    foreign = mapping.model_copy(update={"free_s": (0.5, 1.0), "free_of": "0" * 64})
    assert read_log(path, foreign).mapping.free_s is None
    _, used = check_log(path, mapping=foreign)
    assert "free_s" not in tomllib.loads(mapping_text(used, []))


def test_stretches_of_ones_are_no_fast_motion(tmp_path):
    counts = SWING.copy()
    for first in (300, 900, 1500):
        counts[first : first + 150] = 2**32 - 1
    found, _ = check_log(write(tmp_path, counts, T * 1e-4))
    assert found.counts == {"all ones": 3}


def test_signs_of_a_text_are_words(tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(f"{t / 1000:.3f};{c}\n".replace(".", ",") for t, c in zip(T, SWING, strict=True))
    path.write_text("t_s;enc_count\n" + rows)
    form = check_log(path)[0].format
    assert (form["delimiter"], form["decimal"]) == ("semicolon", "comma")


def test_a_column_of_words_is_read_beside_the_numbers(tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(f"{t / 1000:.3f},{c},RUN {c % 3}\n" for t, c in zip(T, SWING, strict=True))
    path.write_text("t_s,enc_count,state\n" + rows.replace("RUN 1", '"a, b"'))
    found, _ = check_log(path)
    assert (found.rows, found.faults) == (2000, [])
    assert found.mapping["angle"]["column"] == "enc_count"


def test_long_log_that_is_read_in_parts_has_the_same_faults_and_figures(tmp_path, monkeypatch):
    from io_bridge.logs import parts, sources
    from rigloop.logs import seen

    counts = np.rint(5000 + 3000 * np.sin(5e-3 * np.arange(9000))).astype(int)
    counts[2500] += 900
    counts[4000:4030] = 0
    counts[7000:] += 700
    stamp = np.arange(9000) * 1e-3
    stamp[5000:] += 0.05
    path = write(tmp_path, counts, stamp)
    whole, mapping = check_log(path)
    monkeypatch.setattr(sources, "LONG_BYTES", 1000)
    monkeypatch.setattr(parts, "PART", 2000)
    monkeypatch.setattr(seen, "HEAD_ROWS", 3000)
    told = []
    long, same = check_log(path, told=lambda rows, seconds: told.append((rows, seconds)))
    assert [(f.kind, f.row, f.last_row, f.action) for f in long.faults] == [
        (f.kind, f.row, f.last_row, f.action) for f in whole.faults
    ]
    assert [f.time_s for f in long.faults] == pytest.approx([f.time_s for f in whole.faults])
    for name in ("good", "rows", "samples", "counts", "mapping"):
        assert getattr(long, name) == getattr(whole, name)
    assert (*long.range_rad, long.duration_s, long.rate_hz) == pytest.approx(
        (*whole.range_rad, whole.duration_s, whole.rate_hz)
    )
    assert same == mapping
    assert told[-1][0] == 9000
