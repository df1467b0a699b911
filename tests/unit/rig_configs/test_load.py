"""A wrong rig file lists every mistake, with path, value and remedy, before anything starts."""

import tomllib

import pytest

from rig_configs.load import Vocabulary, load_rig
from rig_configs.mistakes import ConfigError, near
from rig_configs.ports import Port, Ports
from rigloop.blocks.catalogue import rig_model_of, table_mistakes


def ports(*names):
    return tuple(Port(name, None, "") for name in names)


PORTS = {
    "bus": Ports(ports("torque_nm"), ports("position_count", "valid")),
    "encoder_filter": Ports(ports("position_count", "valid"), ports("angle_rad")),
}
RIG = """
title = "one drive, one filter"
[tasks.estimation]
period_us = 200
blocks = ["bus", "wheel"]
[blocks.bus]
kind = "bus"
drives.a = { counts_per_rev = 4096, rated_torque_nm = 6.0, peak_torque_nm = 19.0 }
reads = { torque_nm = "wheel/angle_rad" }
[blocks.wheel]
kind = "encoder_filter"
counts_per_rev = 1048576
reads = { position_count = "bus/position_count", valid = "bus/valid" }
[show]
angle = "wheel/angle_rad"
rate = "wheel/angle_rad"
torque = "wheel/angle_rad"
command = "wheel/angle_rad"
"""


def ports_of(table):
    return PORTS.get(table.get("kind"))


def load(name, other_signals=lambda tasks: {}):
    return load_rig(name, Vocabulary(rig_model_of, ports_of, other_signals, table_mistakes))


def mistakes(tmp_path, text):
    path = tmp_path / "rig.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(str(path), lambda tasks: {f"loop/{task}/cycle": "1" for task in tasks})
    return [str(mistake) for mistake in caught.value.mistakes]


def test_a_good_file_loads(tmp_path):
    path = tmp_path / "rig.toml"
    path.write_text(RIG)
    loaded = load(str(path))
    assert loaded.rig.tasks["estimation"].period_us == 200
    assert loaded.sha256 != ""


def test_all_mistakes_of_a_file_come_at_once(tmp_path):
    text = RIG.replace("period_us = 200", 'period_us = "fast"').replace(
        "counts_per_rev", "count_per_rev"
    )
    text = text.replace('"bus/valid"', '"bus/vallid"')
    found = mistakes(tmp_path, text)
    assert any("tasks.estimation.period_us = 'fast'" in line for line in found)
    assert any(
        "count_per_rev" in line and "did you mean 'counts_per_rev'" in line for line in found
    )
    assert any("blocks.wheel.counts_per_rev: missing" in line for line in found)
    assert any("bus/vallid" in line and "did you mean 'bus/valid'" in line for line in found)
    assert all(line.startswith(str(tmp_path / "rig.toml")) for line in found)


def test_period_that_is_no_multiple_names_the_nearest_good_ones(tmp_path):
    text = RIG + "[tasks.simulation]\nperiod_us = 1100\nblocks = ['bus2']\n"
    found = mistakes(tmp_path, text)
    line = next(line for line in found if "tasks.simulation.period_us" in line)
    assert "1100" in line
    assert "1000 or 1200" in line


def test_two_writers_of_a_signal_are_named(tmp_path):
    text = RIG.replace("[show]", 'writes = { angle_rad = "bus/position_count" }\n[show]')
    found = mistakes(tmp_path, text)
    assert any(
        "already written by block 'bus'" in line and "bus/position_count" in line for line in found
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('blocks = ["bus", "wheel"]', 'blocks = ["bus"]'), "no task steps it"),
        (
            ('blocks = ["bus", "wheel"]', 'blocks = ["bus", "wheel", "whel"]'),
            "did you mean 'wheel'",
        ),
        (('blocks = ["bus", "wheel"]', 'blocks = ["bus", "wheel", "bus"]'), "already stepped"),
        (("period_us = 200", "period_us = 200\nspin_us = 200"), "% of the period of"),
        (("period_us = 200", "period_us = 200\nspin_us = 190"), "spin at most 170"),
        (("period_us = 200", 'period_us = 200\nspin_us = "much"'), "spin_us"),
        (("period_us = 200", 'period_us = 200\noverrun = "panic"'), "overrun"),
        (("period_us = 200", "period_us = 200\noverrun_limit = 65"), "less than or equal to 64"),
        (("period_us = 200", "period_us = 200\nstall_cycles = 0"), "greater than or equal to 1"),
        (('kind = "bus"', 'kind = "buss"'), "unknown kind"),
        (
            ('reads = { torque_nm = "wheel/angle_rad" }', "reads = {}"),
            "blocks.bus.reads.torque_nm: missing",
        ),
        (("rated_torque_nm = 6.0", "rated_torque_nm = nan"), "finite number"),
        (("rated_torque_nm = 6.0", "rated_torque_nm = -6.0"), "greater than or equal to 0.000001"),
        (('title = "one drive, one filter"', "title = 3"), "valid string"),
        (('title = "one drive, one filter"', "title = "), "not TOML"),
        (
            ('reads = { torque_nm = "wheel/angle_rad" }', "reads = 3"),
            "reads = 3: input should be a table",
        ),
    ],
)
def test_each_mistake_is_told(tmp_path, change, words):
    assert change[0] in RIG
    assert any(words in line for line in mistakes(tmp_path, RIG.replace(*change)))


@pytest.mark.parametrize(("high", "low", "told"), [(90, 80, True), (80, 90, False), (80, 80, True)])
def test_only_the_highest_task_of_a_core_may_spin(tmp_path, high, low, told):
    first = f"period_us = 200\ncore = 0\npriority = {high}"
    second = (
        f"[tasks.more]\nperiod_us = 400\ncore = 0\npriority = {low}\nspin_us = 50\nblocks = []\n"
    )
    text = RIG.replace("period_us = 200", first) + second
    found = [line for line in mistakes(tmp_path, text) if "tasks.more.spin_us" in line]
    assert bool(found) == told
    assert all("only the highest task of a core" in line for line in found)


def test_missing_rig_names_the_near_ones():
    with pytest.raises(ConfigError, match="steering_wheel"):
        load("stering_wheel")


def test_shipped_rig_is_toml():
    from rig_configs.load import find_rig

    tomllib.loads(find_rig("steering_wheel").read_text())


def test_near_lists_what_is_known_when_nothing_is_near():
    assert near("zzz", ["alpha", "beta"]) == "known: alpha, beta"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('second_interface = "eth2"', "the simulated bus has no cables"),
        ('backend = "eth1"\nsecond_interface = "eth1"', "a ring needs two interfaces"),
        ('backend = "eth1"\nsecond_interface = "simulated"', "a ring needs two interfaces"),
        ('backend = "eth1"\nsecond_interface = "veth"', "both `veth`"),
        ('backend = "veth"\nsecond_interface = "eth2"', "both `veth`"),
        ('backend = "eth1"\nsecond_interface = "not/a/card"', "second_interface"),
    ],
)
def test_a_second_interface_that_makes_no_ring_is_a_mistake(tmp_path, keys, said):
    text = RIG.replace('kind = "bus"\n', f'kind = "bus"\n{keys}\n', 1)
    assert text != RIG
    lines = [line for line in mistakes(tmp_path, text) if "blocks.bus.second_interface" in line]
    assert len(lines) == 1
    assert said in lines[0]


@pytest.mark.parametrize(("backend", "second"), [("eth1", "eth2"), ("veth", "veth")])
def test_two_interfaces_make_a_ring(tmp_path, backend, second):
    keys = f'backend = "{backend}"\nsecond_interface = "{second}"'
    path = tmp_path / "rig.toml"
    path.write_text(RIG.replace('kind = "bus"\n', f'kind = "bus"\n{keys}\n', 1))
    bus = load(str(path)).rig.blocks["bus"]
    assert (bus.backend, bus.second_interface) == (backend, second)
