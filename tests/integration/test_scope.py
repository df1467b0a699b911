"""A scope beside a running loop: 200 signals, every cycle from before the trigger on, to the bit of the record."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rigloop import Rig
from rigloop.scope.opened import open_any
from rigloop.scope.rows import picked
from rigloop.scope.scope import scope_on
from rigloop.scope.setup import Setup

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "service"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from scope import rig_of_sines
    finally:
        sys.path.remove(str(BENCHMARKS))
    folder = tmp_path_factory.mktemp("many")
    (folder / "many.toml").write_text(rig_of_sines(20, 200))
    return folder


def test_no_cycle_of_a_running_loop_is_missing_and_the_command_finds_the_run(many, rigloop):
    paths = (*(f"f{i}/y" for i in range(20)), *(f"s{i}/y" for i in range(200)))
    setup = Setup(signals=paths, trigger="f0/y > 0.5 rising", pre_s=0.4, post_s=0.4)
    with Rig(many / "many.toml").start(runs=many / "runs") as rig:
        rig.wait_until("loop/slow/cycle > 600", timeout_s=60)
        opened = open_any(str(rig.folder))
        scope = scope_on(opened, setup)
        found = []
        until = time.monotonic() + 60
        while scope.state != "done" and time.monotonic() < until:
            found += scope.poll()
            time.sleep(0.02)
        scope.close()
        opened.close()
        arguments = ("many", "--trigger", "late", "--mode", "auto", "--count", "1", "--json")
        done = rigloop("scope", *arguments, "--auto-after", "0.05", "--signals", "f*/y")
    (capture,) = found
    assert capture.complete
    assert capture.lost == 0
    # by the record: each of its cycles, with the same bits
    for group in capture.groups:
        record = rig.record.records[group.name]
        t_ns = np.array(record["t_ns"])
        ends = [capture.trigger_ns - 400_000_000, capture.trigger_ns + 400_000_000]
        low, high = np.searchsorted(t_ns, ends)
        assert high - low > 0
        names = group.rows.dtype.names[1:]
        assert picked(record[low:high], names).tobytes() == group.rows.tobytes()
    (told,) = json.loads(done.stdout)["captures"]
    assert (done.returncode, told["lost"], len(told["signals"])) == (0, 0, 20)
