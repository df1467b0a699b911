"""Units are checked where a port is wired: the mistake names both ends, both units and what would do."""

import re

import pytest

from rig_configs.load import HERE, find_rig
from rig_configs.mistakes import ConfigError
from rigloop.compose.wiring import load
from rigloop.signals.notes import signal_notes

WHEEL = find_rig("steering_wheel").read_text()
OBSERVER = find_rig("steering_observer").read_text()


def told(tmp_path, old, new, text=WHEEL):
    assert old in text
    path = tmp_path / "rig.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load(str(path))
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("old", "new", "takes", "writes"),
    [
        ('rate_rad_s = "wheel/rate_rad_s"', 'rate_rad_s = "wheel/angle_rad"', "rad/s", "'wheel' writes the signal"),
        ('position_rad" = "wheel/angle_rad"', 'position_rad" = "bus/wheel/position_count"', "rad", "in count"),
        ('torque_request_nm = "steering/guide/torque_nm"', 'torque_request_nm = "wheel/angle_rad"', "Nm", "in rad"),
        ('elapsed = "loop/estimation/elapsed"\nsensor', 'elapsed = "loop/estimation/late_ns"\nsensor', "1", "in ns"),
        ('actuator_ready = "bus/wheel/operational"', 'actuator_ready = "bus/wheel/torque_actual_nm"', "1", "in Nm"),
    ],
)  # fmt: skip
def test_a_wire_between_two_units_is_refused(tmp_path, old, new, takes, writes):
    (mistake,) = told(tmp_path, old, new)
    assert "rig.toml: blocks." in mistake
    assert f"this port takes {takes}, and" in mistake
    assert writes in mistake
    assert f"wire a signal in {takes}" in mistake


def test_a_signal_of_the_block_itself_is_no_remedy(tmp_path):
    chain = (
        WHEEL.replace('blocks = ["steering"]', 'blocks = ["slow", "steering"]')
        + """
[blocks.slow]
kind = "sum"
unit = "Nm/rad"
reads = { u1 = "wheel/angle_rad" }
"""
    )
    found = told(tmp_path, "WHEEL", "", "WHEEL" + chain)
    assert any("takes Nm/rad, and block 'wheel' writes the signal in rad" in m for m in found)
    assert not any("slow/y" in mistake for mistake in found)


def test_all_of_them_come_at_once(tmp_path):
    found = told(tmp_path, '"wheel/angle_rad"', '"wheel/acceleration_rad_s2"')
    assert sum("writes the signal in rad/s^2" in mistake for mistake in found) == 2


def test_a_bare_port_for_a_torque_names_torques_before_energies(tmp_path):
    wire = next(
        row
        for row in OBSERVER.splitlines()
        if "bus/wheel/torque_actual_nm" in row and "input/" in row
    )
    (mistake,) = told(tmp_path, wire, "", OBSERVER)
    assert "missing; wire it to a signal in Nm, such as" in mistake
    assert "_j" not in mistake.partition("such as")[2]


def test_what_else_is_wrong_with_the_rig_comes_with_them(tmp_path):
    command = '"wheel/torque_nm" = "{}"'
    found = told(tmp_path, command.format("guard/torque_nm"), command.format("wheel/angle_rad"))
    assert any("takes Nm, and block 'wheel' writes the signal in rad" in m for m in found)
    assert any("does not come from the guard" in m for m in found)


def test_a_known_input_of_an_observer_has_a_unit(tmp_path):
    found = told(tmp_path, '"bus/wheel/torque_actual_nm"', '"wheel/angle_rad"', OBSERVER)
    assert any("takes Nm, and block 'wheel' writes the signal in rad" in m for m in found)


def test_a_scaled_sensor_takes_any_unit(tmp_path):
    text = OBSERVER.replace(
        'encoder = "bus/wheel/position_count"', 'encoder = "wheel/unwrapped_count"'
    )
    path = tmp_path / "rig.toml"
    path.write_text(text)
    assert load(str(path)).rig.title


def test_a_sensor_without_a_scale_takes_its_own_unit(tmp_path):
    scale = next(row for row in OBSERVER.splitlines() if row.startswith("scale"))
    found = told(tmp_path, scale, "", OBSERVER)
    assert any("blocks.hands.reads.encoder" in m and "takes rad" in m for m in found)


def test_an_output_whose_unit_nobody_knows_is_not_checked_and_check_says_so(tmp_path):
    column = (HERE / "mechanisms" / "steering_column.toml").read_text()
    column = column.replace("[outputs]", '[outputs]\nhalf = "= wheel / 2"')
    (tmp_path / "column.toml").write_text(column.replace('name = "steering_column"', ""))
    text = find_rig("latency_bench").read_text()
    text = text.replace('{ angle_rad = "wheel/angle_rad" }', '{ angle_rad = "column/half" }')
    text = text.replace('["steering", "relay"]', '["steering", "column", "relay"]')
    wires = ", ".join(
        f'"input/force/{force}/torque_nm" = "steering/guide/torque_nm"'
        for force in ("motor", "hands")
    )
    text += (
        f'\n[blocks.column]\nkind = "mechanism"\nmechanism = "column.toml"\nreads = {{ {wires} }}\n'
    )
    path = tmp_path / "rig.toml"
    path.write_text(text)
    assert any("blocks.relay.reads.angle_rad" in note for note in signal_notes(load(str(path)).rig))


BARE = """
title = "My first rig"
[tasks.main]
period_us = 1000
blocks = ["bus", "wheel", "spring", "guard"]
[blocks.bus]
kind = "bus"
[blocks.bus.drives.handle]
counts_per_rev = 131072
rated_torque_nm = 5.0
peak_torque_nm = 15.0
[blocks.wheel]
kind = "encoder_filter"
counts_per_rev = 131072
bandwidth_rad_s = 200.0
[blocks.wheel.reads]
[blocks.spring]
kind = "gain"
gain = -4.0
unit = "Nm"
reads = { u = "wheel/angle_rad" }
[blocks.guard]
kind = "guard"
limit_nm = 3.0
rate_nm_s = 500.0
request_sign = 1
max_angle_rad = 6.0
max_rate_rad_s = 20.0
[blocks.guard.reads]
"""


def test_a_port_without_a_wire_names_the_signals_that_it_usually_reads(tmp_path):
    said = told(tmp_path, "", "", BARE)
    for port, signal in {
        "bus.reads.handle/torque_nm": "guard/torque_nm",
        "wheel.reads.position_count": "bus/handle/position_count",
        "wheel.reads.elapsed": "loop/main/elapsed",
        "guard.reads.own_cycle": "loop/main/cycle",
        "guard.reads.sensor_valid": "wheel/trusted",
        "guard.reads.heartbeat": "supervisor/heartbeat",
        "guard.reads.angle_rad": "wheel/angle_rad",
        "guard.reads.actuator_ready": "bus/handle/operational",
    }.items():
        (mistake,) = (line for line in said if f"blocks.{port}: missing" in line)
        assert mistake.endswith(f"wire it to '{signal}'"), mistake


def test_following_what_a_check_says_of_bare_ports_wires_a_rig(tmp_path):
    said = told(tmp_path, "", "", BARE)
    path = tmp_path / "wired.toml"
    wires = {}
    for line in said:
        key, _, remedy = line.partition(": missing; wire it to ")
        _, block, _, port = key.rpartition(": ")[2].split(".", 3)
        first = re.search(r"'(.+?)'|such as ([^,]+)", remedy)
        wires.setdefault(block, {})[port] = first[1] or first[2]
    text = BARE
    for block, reads in wires.items():
        lines = "".join(f'"{port}" = "{signal}"\n' for port, signal in reads.items())
        head = f"[blocks.{block}.reads]\n"
        text = text.replace(head, head + lines) if head in text else text + head + lines
    path.write_text(text)
    assert load(str(path)).rig.blocks["guard"].reads["torque_request_nm"] == "spring/y"
