"""Arming again: what the supervisor says where a run ends while one axis is out and another goes on."""

from collections import defaultdict

import pytest
from swaps import swapped

from io_bridge.exchange.exchange import BUS_LOST
from rig_configs.load import find_rig
from rigloop.compose.wiring import load
from rigloop.live.rearm import Rearming
from rt_core.safety.trips import State, Trip

REARM = 'rearm = { after = "bus", at_most = 2, settle_s = 0.2, within_s = 3.0, reset_drive = true }'
BRAKE_IS_LOST = {
    "wheel_guard/state": State.RUNNING,
    "brake_guard/state": State.FAULT,
    "brake_guard/trip": Trip.ACTUATOR_LOST,
    "brake_guard/trip_fault": min(BUS_LOST),
}


@pytest.fixture
def rig(tmp_path):
    changes = [
        (f'[blocks.{guard}]\nkind = "guard"\n', f'[blocks.{guard}]\nkind = "guard"\n{REARM}\n')
        for guard in ("wheel_guard", "brake_guard")
    ]
    path = tmp_path / "two_lines.toml"
    path.write_text(swapped(find_rig("two_lines").read_text(), *changes))
    return load(str(path)).rig


def test_an_axis_that_went_on_is_named_although_it_lets_go_right_after(rig, tmp_path):
    place = 1 + list(rig.tasks["feet"].blocks).index("pedal_line")
    signals = defaultdict(float, BRAKE_IS_LOST | {"brake_guard/trip_block": place})
    rearming = Rearming(rig, tmp_path, lambda: signals)
    rearming.look(State.RUNNING, 0.0)
    rearming.ended()
    said = rearming.gave_up
    assert said.startswith("brake_guard: not armed again: wheel_guard continued")
    signals["wheel_guard/state"] = State.READY
    rearming.ended()
    assert rearming.gave_up == said


def test_where_no_axis_went_on_at_the_end_nothing_is_said(rig, tmp_path):
    signals = defaultdict(float, BRAKE_IS_LOST | {"wheel_guard/state": State.READY})
    rearming = Rearming(rig, tmp_path, lambda: signals)
    rearming.ended()
    signals["wheel_guard/state"] = State.RUNNING
    rearming.ended()
    assert rearming.gave_up == ""
