"""A supervisor that dies before the kernel was asked to tell of it: the loop ends all the same, at zero torque."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rig_configs.named_files import keep_named
from rigloop.compose.wiring import load
from rigloop.host.children import commission, cycle_process
from rigloop.run_folder import messages
from rigloop.run_folder.process_state import Process

pytestmark = pytest.mark.slow

END_TIMEOUT_S = 60


def test_a_loop_whose_supervisor_died_unnoticed_ends_by_itself(tmp_path, make_rig, wait_for):
    loaded = load(str(make_rig()))
    (tmp_path / "rig.toml").write_text(loaded.text)
    keep_named(tmp_path, loaded.files)
    with (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as supervisor,
        cycle_process() as cycle,
    ):
        # the signal at the death of a parent is that of this process, which lives
        who = Process.of(supervisor.pid)
        table = Path(f"/dev/shm/rigloop-0-{who.pid}-{who.start_ticks}")
        messages.write(tmp_path, "order.json", messages.Order("steering", str(table)))
        commission(cycle, tmp_path)
        wait_for(lambda: table.exists() or cycle.poll() is not None, END_TIMEOUT_S, "table")
        assert cycle.poll() is None, (tmp_path / "cycle.log").read_text()
        supervisor.kill()
        supervisor.wait()
        cycle.wait(END_TIMEOUT_S)
    report = json.loads((tmp_path / "cycle.json").read_text())
    assert report["stopped_by"] == "the end of its supervisor"
    assert report["at_rest"]
    assert not table.exists()
