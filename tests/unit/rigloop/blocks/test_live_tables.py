"""Live values and stimuli become blocks before what they act on; what would be dangerous is refused."""

import tomllib

import pytest

from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.compose.wiring import load
from rigloop.haptic.path import haptic_path

BENCH = find_rig("live_bench").read_text()
WHEEL = find_rig("steering_wheel").read_text()
VALUE = """
[live.{name}]
block = "{block}"
{what} = "{port}"
unit = "{unit}"
lower = -1.0
upper = 1.0
rate_per_s = 1.0
start = 0.0
"""
NOISE = 'block = "assisted"\ninput = "u2"\nunit = "1"\nlimit'
STIMULUS = """
[stimuli.{name}]
block = "{block}"
input = "{port}"
unit = "{unit}"
limit = 1.0
signal = {{ kind = "sine", frequency_hz = 1.0 }}
"""


@pytest.fixture
def mistakes(tmp_path):
    """Return the mistakes of a rig's text by their keys."""

    def find(text):
        path = tmp_path / "rig.toml"
        path.write_text(text)
        try:
            load(str(path))
        except ConfigError as error:
            return {mistake.key: str(mistake) for mistake in error.mistakes}
        return {}

    return find


def value(name="knob", block="guard", what="input", port="torque_request_nm", unit="Nm"):
    return VALUE.format(name=name, block=block, what=what, port=port, unit=unit)


def stimulus(name="shake", block="guard", port="torque_request_nm", unit="Nm"):
    return STIMULUS.format(name=name, block=block, port=port, unit=unit)


def test_each_becomes_a_block_before_its_target_and_the_chain_is_wired():
    rig = load("live_bench").rig
    assert rig.tasks["fast"].blocks == [
        "hands", "shake", "push", "stiffness", "spring", "preload", "preloaded",
    ]  # fmt: skip
    assert rig.blocks["spring"].reads == {"u": "push/value", "gain": "stiffness/value"}
    assert rig.blocks["push"].reads["before"] == "shake/value"
    assert rig.blocks["shake"].reads == {"number": "live/shake", "before": "hands/y"}
    # on a live value a stimulus is added before the limits
    assert rig.blocks["assistance"].reads["added"] == "noise/value"
    assert "before" not in rig.blocks["noise"].reads
    assert "live" in tomllib.loads(BENCH)


def test_a_stimulus_on_the_request_of_a_guard_is_what_its_limit_is_for(mistakes):
    assert mistakes(WHEEL + stimulus()) == {}


def test_nothing_comes_between_the_guards_of_a_task(tmp_path):
    guards = ("wheel_guard", "brake_guard", "gas_guard")
    path = tmp_path / "rig.toml"
    shakes = "".join(stimulus(f"shake_{guard}", guard) for guard in guards)
    path.write_text(find_rig("pedals_and_wheel").read_text() + shakes)
    blocks = load(str(path)).rig.tasks["estimation"].blocks
    assert blocks[-6:] == [*(f"shake_{guard}" for guard in guards), *guards]


def test_the_samples_of_a_stimulus_lie_beside_the_rig_and_go_with_its_run(tmp_path, mistakes):
    signal = 'signal = { kind = "file", samples = "road.csv" }'
    text = BENCH.replace('signal = { kind = "noise", std = 0.05, seed = 7 }', signal)
    found = mistakes(text)
    assert any(key.startswith("stimuli.noise.signal.samples") for key in found), found
    (tmp_path / "road.csv").write_text("time_s,value\n0,0\n1,0.1\n")
    loaded = load(str(tmp_path / "rig.toml"))
    assert loaded.files == {"road.csv": str(tmp_path / "road.csv")}
    assert loaded.rig.blocks["noise"].signal["samples"] == str(tmp_path / "road.csv")


def test_a_stimulus_hides_no_haptic_loop(tmp_path):
    path = tmp_path / "rig.toml"
    position = stimulus("turn", "steering", "guide/wheel/position_rad", "rad")
    path.write_text(WHEEL + stimulus() + stimulus("again") + position)
    assert haptic_path(load(str(path)).rig) == haptic_path(load("steering_wheel").rig)


@pytest.mark.parametrize(
    ("added", "key", "words"),
    [
        (value(what="parameter", port="limit_nm"), "live.knob.parameter", "a limit of a guard must not change"),
        (value(what="parameter", port="rate_nm_s"), "live.knob.parameter", "the guard would not protect"),
        (value(port="heartbeat"), "live.knob.input", "an input that a guard watches"),
        (stimulus(port="angle_rad", unit="rad"), "stimuli.shake.input", "an input that a guard watches"),
        (value(block="bus", port="wheel/torque_nm"), "live.knob.input", "after the guard"),
        (stimulus(block="bus", port="wheel/torque_nm"), "stimuli.shake.input", "after the guard"),
        (stimulus(block="wheel", port="position_count", unit="1"), "stimuli.shake", "guard 'guard' watches 'wheel/"),
        (value(block="steering", what="parameter", port="mass"), "live.knob.parameter", "hold for a whole run"),
        (value(), "blocks.guard.reads.torque_request_nm", "live.knob takes its place"),
        (value(name="wheel"), "live.wheel", "has this name already"),
        (value(name="supervisor"), "live.supervisor", "has this name already"),
        (value(block="gard"), "live.knob.block", "did you mean 'guard'?"),
    ],
)  # fmt: skip
def test_what_would_blind_or_pass_a_guard_is_refused(mistakes, added, key, words):
    found = mistakes(WHEEL + added)
    assert words in found[key], found


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('parameter = "gain"', 'parameter = "gian"', "live.stiffness.parameter", "one of gain"),
        ('unit = "Nm/rad"', 'unit = "Nm"', "blocks.spring.reads.gain", "writes the signal in Nm"),
        ('unit = "Nm/rad"', 'unit = "furlong"', "live.stiffness.unit", "furlong"),
        ("lower = -5.0", "lower = 6.0", "live.preload", "is not below upper"),
        ("start = 1.0", "start = 3.0", "live.assistance", "is not within"),
        ("start = 1.0", "start = nan", "live.assistance.start", "finite"),
        ('group = "spring"\n\n[live.ass', "\n[live.ass", None, ""),
        ('who = "anyone"', 'group = "spring"', "live.assistance.group", "would not change in one cycle"),
        ('input = "u2"', 'input = "u9"', "live.assistance.input", "no such input"),
        ('input = "u2"\nunit = "1"\nlower', 'unit = "1"\nlower', "live.assistance", "needs an input or a parameter"),
        ("amplitude = 0.1, freq", "amplitude = 0.1, fr", "stimuli.shake.signal.frequency_hz", "missing"),
        ('{ kind = "noise"', '{ kind = "gain"', "stimuli.noise.signal.kind", "no signal of a stimulus"),
        ('{ kind = "noise"', '{ reads = {}, kind = "noise"', "stimuli.noise.signal.reads", "has no ports"),
        ('when = "hands/y > 0.25"', 'when = "hands/x > 0.25"', "stimuli.push.when", "did you mean 'hands/y'?"),
        ('when = "hands/y > 0.25"', 'when = "__import__(1)"', "stimuli.push.when", "is not a comparison"),
        ("[stimuli.noise]", "[stimuli.preload]", "stimuli.preload", "a live value has this name already"),
        ("[stimuli.noise]", "[stimuli.changes]", "stimuli.changes", "has this name already"),
        (NOISE, NOISE.replace("u2", "u3"), "stimuli.noise.block", "nothing is wired to it"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_named_by_its_own_key(mistakes, old, new, key, words):
    assert old in BENCH
    found = mistakes(BENCH.replace(old, new, 1))
    if key is None:
        assert found == {}
    else:
        assert words in found[key], found


def test_a_live_parameter_keeps_the_limits_that_the_block_declares(mistakes):
    text = BENCH.replace(
        'kind = "gain"\ngain = 10.0\nunit = "Nm"', 'kind = "low_pass"\ncutoff_hz = 5.0'
    )
    found = mistakes(
        text.replace('parameter = "gain"', 'parameter = "cutoff_hz"').replace('"Nm/rad"', '"Hz"')
    )
    assert "live.stiffness.parameter" in found or "live.stiffness.lower" in found, found


def test_two_live_values_have_two_targets(mistakes):
    added = value("again", "assisted", "input", "u2", "1")
    assert "live value 'assistance' has this target" in mistakes(BENCH + added)["live.again.block"]


def test_a_live_value_has_a_reserved_first_word_for_what_is_written(mistakes):
    found = mistakes(BENCH.replace("[blocks.hands]", "[blocks.live]").replace("hands/y", "live/y"))
    assert any(
        "reserved for signals of the loop and of its helpers" in words for words in found.values()
    )
