"""A guard's presets: which times hold where a rig gives none, and the words of a trip whose limit came from one."""

import pytest

from rigloop.blocks.axes import guards_of
from rigloop.blocks.kinds.guard import guard_config, limit_words
from rigloop.compose.wiring import load


def rig_with(preset, **given):
    rig = load("steering_wheel").rig
    times = dict.fromkeys(
        ("max_gap_ms", "max_request_age_ms", "heartbeat_timeout_ms", "sensor_hold_ms",
         "sensor_bucket_ms", "skip_bucket_ms")
    )  # fmt: skip
    guard = rig.blocks["guard"].model_copy(update=times | {"preset": preset} | given)
    return rig.model_copy(update={"blocks": {**rig.blocks, "guard": guard}})


def config_of(rig):
    return guard_config(rig, "guard", guards_of(rig)["guard"])


def test_the_strict_times_are_those_of_a_tuned_machine():
    config = config_of(rig_with("rig"))
    assert (config.max_gap_ms, config.max_request_age_ms, config.sensor_hold_ms) == (5, 5, 5)
    assert (config.heartbeat_timeout_ms, config.skip_bucket_ms, config.sensor_bucket_ms) == (
        200,
        10,
        20,
    )


def test_every_time_of_the_bench_is_longer():
    bench, strict = config_of(rig_with("bench")), config_of(rig_with("rig"))
    for key in (
        "max_gap_ms",
        "max_request_age_ms",
        "sensor_hold_ms",
        "heartbeat_timeout_ms",
        "skip_bucket_ms",
        "sensor_bucket_ms",
    ):
        assert getattr(bench, key) > getattr(strict, key)


@pytest.mark.parametrize("preset", ["bench", "rig"])
def test_a_key_that_is_given_wins_over_the_preset(preset):
    rig = rig_with(preset, max_gap_ms=7.0)
    assert config_of(rig).max_gap_ms == 7.0
    assert limit_words(rig, "guard", "max_gap_ms") == ""


def test_a_limit_of_a_preset_says_so_and_what_the_other_bridges():
    said = limit_words(rig_with("rig"), "guard", "max_gap_ms")
    assert said == (
        "limit 5 ms by preset 'rig'; 'bench' bridges 50 ms; blocks.guard.max_gap_ms sets another"
    )
    assert limit_words(rig_with("bench"), "guard", "max_gap_ms") == (
        "limit 50 ms by preset 'bench'; blocks.guard.max_gap_ms sets another"
    )


def test_limits_without_a_preset_have_no_such_words():
    assert limit_words(rig_with("rig"), "guard", "max_angle_rad") == ""
    assert limit_words(rig_with("rig"), "guard", "") == ""
    # the default of a hold that no preset has
    assert "by preset" not in limit_words(rig_with("rig"), "guard", "request_hold_ms")
