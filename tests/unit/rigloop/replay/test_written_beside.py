"""Records that a thread writes: all rows in order, and a disk that takes no more is an error."""

import numpy as np
import pytest

from io_bridge.recording.record import RecordWriter, open_record
from rigloop.replay.written_beside import WrittenBeside


def test_rows_of_all_turns_are_in_the_records_in_order(tmp_path):
    paths = {"fast": ("a", "b"), "slow": ("c",)}
    records = {task: RecordWriter(tmp_path / f"{task}.npy", names) for task, names in paths.items()}
    rng = np.random.default_rng(0)
    made = {"fast": 0, "slow": 0}
    with WrittenBeside(records) as beside:
        for _ in range(50):
            sizes = {"fast": int(rng.integers(1, 400)), "slow": int(rng.integers(0, 90))}
            room = beside.room(sizes)
            for task, n in sizes.items():
                t_ns = np.arange(made[task], made[task] + n)
                room[task][:n, 0] = t_ns.view(np.float64)
                room[task][:n, 1:] = t_ns[:, None] * 10.0 + np.arange(room[task].shape[1] - 1)
                beside.write(task, n)
                made[task] += n
    for task, record in records.items():
        record.close()
        found = open_record(record.path)
        assert found["t_ns"].tolist() == list(range(made[task]))
        for k, name in enumerate(paths[task]):
            assert np.array_equal(found[name], found["t_ns"] * 10.0 + k)


class Full(RecordWriter):
    def append(self, rows):
        raise OSError(28, "No space left on device")


def test_a_disk_that_is_full_is_an_error_at_the_end_at_the_latest(tmp_path):
    with Full(tmp_path / "fast.npy", ("a",)) as record:
        beside = WrittenBeside({"fast": record})
        beside.room({"fast": 3})
        beside.write("fast", 3)
        with pytest.raises(OSError, match="No space left"):
            beside.__exit__(None, None, None)
