"""Batches of a sweep: a log is read once for all of its points, whatever comes of it."""

from rig_configs.load import find_rig
from rigloop.sweep import simulate
from rigloop.sweep.simulate import Batch, run_batch


def test_a_log_that_cannot_be_read_is_read_once_for_all_points(tmp_path, monkeypatch):
    path, reads = tmp_path / "no_log.csv", []
    path.write_text("nothing\n")
    whole = simulate.read_log

    def counted(*given):
        reads.append(given)
        return whole(*given)

    monkeypatch.setattr(simulate, "read_log", counted)
    text = find_rig("steering_wheel").read_text()
    rows = run_batch(Batch("no_log.csv", str(path), None, ((0, text), (1, text), (2, text))))
    assert len(reads) == 1
    assert [row["point"] for row in rows] == [0, 1, 2]
    assert all("no_log.csv" in row["error"] for row in rows)
