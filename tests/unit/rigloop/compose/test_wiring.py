"""No torque reaches a drive past the guard: a rig file that would allow it is refused."""

import pytest

from codegen.description.builder import MechanismBuilder
from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.mechanisms import kernel_options
from rigloop.compose.wiring import load

RIG = find_rig("steering_wheel").read_text()


def mistakes(tmp_path, old, new):
    assert old in RIG
    path = tmp_path / "rig.toml"
    path.write_text(RIG.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load(str(path))
    return "\n".join(str(mistake) for mistake in caught.value.mistakes)


@pytest.mark.parametrize("name", ["steering_wheel", "steering_wheel_veth"])
def test_rigs_that_ship_are_good(name):
    assert load(name).rig.title


def test_torque_that_bypasses_the_guard_is_refused(tmp_path):
    told = mistakes(
        tmp_path,
        '"wheel/torque_nm" = "guard/torque_nm"',
        '"wheel/torque_nm" = "steering/guide/torque_nm"',
    )
    assert "does not come from the guard" in told
    assert "guard/torque_nm" in told


@pytest.mark.parametrize("order", ['["bus", "guard", "wheel"]', '["guard", "bus", "wheel"]'])
def test_guard_that_is_not_last_is_refused(tmp_path, order):
    assert "not the last block" in mistakes(tmp_path, '["bus", "wheel", "guard"]', order)


def test_guard_in_another_task_is_refused(tmp_path):
    path = tmp_path / "rig.toml"
    path.write_text(
        RIG.replace('["bus", "wheel", "guard"]', '["bus", "wheel"]').replace(
            '["steering"]', '["steering", "guard"]'
        )
    )
    with pytest.raises(ConfigError, match="not the last block of the task that has the bus"):
        load(str(path))


def test_unknown_mechanism_names_the_near_ones(tmp_path):
    told = mistakes(tmp_path, 'mechanism = "steering_26"', 'mechanism = "stering_26"')
    assert "blocks.steering" in told
    assert "did you mean 'steering_26'" in told


def test_unknown_port_of_a_kernel_names_the_near_ones(tmp_path):
    told = mistakes(tmp_path, '"guide/wheel/position_rad" =', '"guide/wheel/positon_rad" =')
    assert "no such port" in told
    assert "guide/wheel/position_rad" in told


def test_options_of_a_kernel_are_checked_with_the_rig(tmp_path):
    told = mistakes(
        tmp_path,
        'mechanism = "steering_26"',
        'mechanism = "steering_26"\noptions = { kapa = 1e5, iterations = 0, step_s = 1e-3 }',
    )
    assert "blocks.steering.options.kapa" in told
    assert "'kappa'" in told
    assert (
        "blocks.steering.options.iterations = 0: input should be greater than or equal to 1" in told
    )
    assert "blocks.steering.options.step_s" in told


def test_a_frozen_kernel_takes_no_parameters(tmp_path):
    told = mistakes(
        tmp_path,
        'mechanism = "steering_26"',
        'mechanism = "steering_26"\noptions = { frozen = true }\n'
        'parameters = { "inertia/wheel/inertia_kg_m2" = 0.05 }',
    )
    assert "parameters of a frozen kernel cannot be set" in told


def test_options_reach_the_kernel(tmp_path):
    path = tmp_path / "rig.toml"
    mechanism = 'mechanism = "steering_26"'
    given = 'options = { projection = "B", reuse = "projection", kappa = 1e5, cflags = ["-g"] }'
    path.write_text(RIG.replace(mechanism, f"{mechanism}\n{given}"))
    options = kernel_options(load(str(path)).rig, "steering")
    assert (options.projection, options.reuse, options.kappa) == ("B", "projection", 1e5)
    assert options.cflags == ("-g",)
    assert options.step_s == 1e-3


def test_a_rig_names_no_program_and_no_flag_that_loads_one(tmp_path):
    mechanism = 'mechanism = "steering_26"'
    given = (
        'options = { compiler = "touch canary", cflags = ["-fplugin=./evil.so"], march = "x y" }'
    )
    told = mistakes(tmp_path, mechanism, f"{mechanism}\n{given}")
    assert "blocks.steering.options.compiler" in told
    assert "a rig file names no program" in told


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[tasks.estimation]", '[tasks."../../estimation"]', "is not a name"),
        ("[tasks.estimation]", '[tasks."a\\u001b]0;x\\u0007"]', "is not a name"),
        ("[blocks.steering]", '[blocks."<b>x"]', "is not a name"),
        ("[blocks.steering]", "[blocks.%s]" % ("a" * 65), "longer than 64"),
        ('torque = "', 'torque = "a\\nb', "is not the path of a signal"),
        ("title = ", 'title = "a\\u001b[31mb" #', "has the character U+001B"),
        ("title = ", 'title = "a\\u202eb" #', "has the character U+202E"),
        ("title = ", 'title = "%s" #' % ("a" * 501), "longer than 500"),
    ],
)
def test_names_of_a_rig_are_checked_at_the_door(tmp_path, old, new, problem):
    assert problem in mistakes(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("limit_nm = 12.0", "limit_nm = 1e300", "blocks.guard.limit_nm = 1e+300"),
        ("max_gap_ms = 200.0", "max_gap_ms = 1e300", "blocks.guard.max_gap_ms = 1e+300"),
        ("rate_nm_s = 2000.0", "rate_nm_s = 1e-3", "blocks.guard.rate_nm_s = 0.001"),
        ("bandwidth_rad_s = 310.4", "bandwidth_rad_s = 1e300", "blocks.wheel.bandwidth_rad_s"),
        (
            "peak_torque_nm = 19.1",
            "peak_torque_nm = 1000.0",
            "blocks.bus.drives.wheel.peak_torque_nm = 1000.0: must be at most 208.726",
        ),
        (
            "rated_torque_nm = 6.37",
            "rated_torque_nm = 1e300",
            "drives.wheel.rated_torque_nm = 1e+300",
        ),
        (
            "[blocks.bus.drives.wheel]",
            "[blocks.bus.clock]\ntolerance_us = 500.0\n[blocks.bus.drives.wheel]",
            "blocks.bus.clock.tolerance_us = 500.0: must be at most 50 µs, a quarter of the period",
        ),
        ("stall_cycles = 1000", f"stall_cycles = {2**62}", "tasks.estimation.stall_cycles"),
        ("spin_us = 40", f"late_limit_us = {2**62}", "tasks.estimation.late_limit_us"),
        (
            "watchdog_ms = 200.0",
            f"identity = {{ vendor = {2**40}, product = 1, revision = -1 }}",
            "identity.vendor",
        ),
        (
            "watchdog_ms = 200.0",
            f'setup = [{{ object = "0x6072:0", value = {2**40}, bytes = 4 }}]',
            "blocks.bus.drives.wheel",
        ),
        ("watchdog_ms = 200.0", "position = 7", "blocks.bus: positions [7]"),
        (
            "lost_after_ms = 200.0",
            "lost_after_ms = 0.001",
            "wheel.lost_after_ms = 0.001: must be at least two sample periods of 0.0002 s",
        ),
    ],
)
def test_a_value_that_a_block_refuses_is_refused_before_the_start(tmp_path, old, new, key):
    assert key in mistakes(tmp_path, old, new)


def test_a_wrong_parameter_of_a_mechanism_is_named_by_its_key(tmp_path):
    told = mistakes(
        tmp_path,
        'mechanism = "steering_26"',
        'mechanism = "steering_26"\nparameters = { "inertia/wheel/inertia_kg_m2" = nan }',
    )
    assert "blocks.steering.parameters.inertia/wheel/inertia_kg_m2 = nan" in told


@pytest.mark.parametrize("name", ["loop", "supervisor"])
def test_a_block_cannot_have_the_name_of_the_loop_or_the_supervisor(tmp_path, name):
    path = tmp_path / "rig.toml"
    path.write_text(
        RIG.replace('"wheel", "guard"]', f'"{name}", "guard"]')
        .replace("[blocks.wheel", f"[blocks.{name}")
        .replace('= "wheel/', f'= "{name}/')
    )
    with pytest.raises(ConfigError, match=f"blocks.{name}: .*another name"):
        load(str(path))


def test_a_signal_of_the_supervisor_cannot_be_written_by_a_block(tmp_path):
    told = mistakes(
        tmp_path,
        "[blocks.wheel.reads]",
        '[blocks.wheel.writes]\nready = "supervisor/arm_me"\n[blocks.wheel.reads]',
    )
    assert "blocks.wheel.writes.ready = 'supervisor/arm_me'" in told


def test_a_signal_without_a_slash_is_refused(tmp_path):
    told = mistakes(
        tmp_path,
        "[blocks.wheel.reads]",
        '[blocks.wheel.writes]\nready = "flag"\n[blocks.wheel.reads]',
    )
    assert "blocks.wheel.writes.ready = 'flag'" in told
    assert "wheel/flag" in told


def test_a_task_cannot_have_the_name_of_the_supervisor(tmp_path):
    path = tmp_path / "rig.toml"
    path.write_text(
        RIG.replace("[tasks.simulation]", "[tasks.supervisor]").replace(
            "loop/simulation/", "loop/supervisor/"
        )
    )
    with pytest.raises(ConfigError, match=r"tasks\.supervisor = .*another name"):
        load(str(path))


def test_whatever_names_the_check_allows_the_loop_takes(tmp_path):
    from rigloop.compose.blocks import plan_blocks
    from rt_core.block import Block

    path = tmp_path / "rig.toml"
    path.write_text(
        RIG.replace("[tasks.simulation]", "[tasks.Sim-2]")
        .replace("loop/simulation/", "loop/Sim-2/")
        .replace('"wheel", "guard"]', '"Wheel-A", "guard"]')
        .replace("[blocks.wheel", "[blocks.Wheel-A")
        .replace('= "wheel/', '= "Wheel-A/')
        .replace(
            "[blocks.Wheel-A.reads]",
            '[blocks.Wheel-A.writes]\nnis = "Log.x/N-1.is"\n[blocks.Wheel-A.reads]',
        )
    )
    rig = load(str(path)).rig
    from rigloop.blocks.kind import Making
    from rigloop.blocks.kinds.encoder_filter import make

    wheel: Block = make(Making(rig, "Wheel-A", rig.blocks["Wheel-A"]))
    inputs = ["bus/wheel/position_count", "bus/wheel/valid"]
    plan = plan_blocks(rig, {"Wheel-A": wheel}, inputs)
    assert any("Log.x/N-1.is" in producer.signals for producer in plan.producers)


@pytest.mark.parametrize("kind", ["drives", "terminals"])
@pytest.mark.parametrize(
    ("device", "problem"),
    [
        ("no_such_drive", "no device file, and none of those that ship"),
        ("../nothing.toml", "no device file"),
        ("../nothing.xml#5:1", "No such file"),
        ("direct_drive+no_such_quirk", "quirk 'no_such_quirk': there is none"),
        ("direct_drive+late_reply:hours=1", "quirk late_reply: hours: no such option"),
        ("/dev/zero", "no device file"),
    ],
)
def test_a_device_that_cannot_be_is_refused_before_the_start(tmp_path, kind, device, problem):
    slave = "[blocks.bus.drives.wheel]\n"
    new = (
        f'{slave}device = "{device}"\n'
        if kind == "drives"
        else f'[blocks.bus.terminals.rack]\ndevice = "{device}"\n\n{slave}'
    )
    told = mistakes(tmp_path, slave, new)
    assert f"blocks.bus.{kind}.{'wheel' if kind == 'drives' else 'rack'}.device" in told
    assert problem in told


@pytest.mark.parametrize("law", ["table", "expression"])
def test_a_stop_that_the_step_is_too_long_for_is_refused_with_the_substeps_that_do(tmp_path, law):
    made = MechanismBuilder("stopped").angle("wheel").angle("arm")
    made.inertia("wheel", angle="wheel", inertia_kg_m2=0.05).guide("wheel", coordinate="wheel")
    made.inertia("arm", angle="arm", inertia_kg_m2=1.0)
    if law == "table":
        made.spring("stop", angle="arm", table=[(-1.0, -1e6), (0.0, 0.0), (1.0, 0.0)])
    else:
        made.expression_force("stop", coordinate="arm", force="5e5 * (abs(arm) - arm)")
    path = made.output("guide/torque_nm", "guide.wheel.reaction").save(tmp_path)
    old, new = 'mechanism = "steering_26"', f'mechanism = "{path}"'
    told = mistakes(tmp_path, old, new)
    assert "blocks.steering.options.substeps" in told
    assert "lasts 3.14 ms, 3.1 steps" in told
    assert "substeps = 6" in told
    enough = tmp_path / "enough.toml"
    enough.write_text(RIG.replace(old, new) + "\n[blocks.steering.options]\nsubsteps = 6\n")
    assert load(str(enough)).rig.title


BLOCKS_ALONE = """
title = "blocks"
tasks.main = { period_us = 1000, blocks = ["low", "high", "quiet", "chosen"] }
[blocks.low]
kind = "sweep"
unit = "rad"
from_hz = 1.0
to_hz = HIGH
duration_s = 5.0
[blocks.high]
kind = "sine"
unit = "rad"
frequency_hz = 1.0
[blocks.quiet]
kind = "notch"
frequency_hz = HIGH
width_hz = 5.0
reads = { u = "low/y" }
[blocks.chosen]
kind = "selector"
count = COUNT
reads = { select = "loop/main/cycle", u1 = "low/y", u2 = "high/y" }
"""


def blocks_alone(tmp_path, high_hz, count):
    path = tmp_path / "rig.toml"
    path.write_text(BLOCKS_ALONE.replace("HIGH", str(high_hz)).replace("COUNT", str(count)))
    return str(path)


def test_what_the_rate_of_a_task_and_other_keys_ask_of_a_block_is_found_before_the_start(tmp_path):
    assert load(blocks_alone(tmp_path, 499.0, 2)).rig.blocks
    with pytest.raises(ConfigError) as caught:
        load(blocks_alone(tmp_path, 500.0, 2))
    low, quiet = sorted(str(mistake) for mistake in caught.value.mistakes)
    assert "blocks.low.to_hz = 500.0: must be < 500, half the rate of its task" in low
    assert "blocks.quiet.frequency_hz = 500.0: must be < 500" in quiet
    with pytest.raises(ConfigError) as caught:
        load(blocks_alone(tmp_path, 499.0, 4))
    third, fourth = sorted(str(mistake) for mistake in caught.value.mistakes)
    assert "blocks.chosen.reads.u3: not wired, and count = 4 needs it" in third
    assert "blocks.chosen.reads.u4: not wired, and count = 4 needs it" in fourth
