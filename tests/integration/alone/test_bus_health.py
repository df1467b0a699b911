"""`rigloop bus` and `rigloop sdo` beside a live run on the simulated bus, and of its record."""

import json
import signal

import pytest

pytestmark = pytest.mark.slow


def test_the_bus_of_a_live_run_and_of_its_record(start_live, rigloop):
    live = start_live()
    live.wait_until_it_pushes()
    now = rigloop("bus", "live", "--json")
    read = rigloop("sdo", "simulated", 0, "0x6041", "--json")
    live.process.send_signal(signal.SIGINT)
    live.end(40)
    recorded = rigloop("bus", live.folder, "--json")
    found = json.loads(recorded.stdout)
    assert recorded.returncode == 0
    assert found["lost"] == 0
    (slave,) = found["slaves"]
    assert slave["name"] == "wheel"
    assert slave["al_state"] == "OP"
    assert slave["wkc_min"] == slave["wkc_expected"] == 2
    # the newest run of this user may be another one's on a shared machine: its form is what counts
    assert {"cycles", "slaves", "exchange_p50_us"} <= set(json.loads(now.stdout))
    assert json.loads(read.stdout)["object"] == "0x6041:0"
    table = rigloop("bus", live.folder)
    assert "2 of 2" in table.stdout


def test_what_is_no_run_is_wrong_input(rigloop, tmp_path):
    said = rigloop("bus", tmp_path / "nothing")
    assert said.returncode == 2
    assert "no such run folder" in said.stderr
