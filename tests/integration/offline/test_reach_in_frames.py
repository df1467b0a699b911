"""The bytes that leave the master when an axis is struck: torque and controlword of each drive, for every kind of fault
and every reach, in rigs of one to four axes made at random. Nothing is stubbed but the clock: the rig's own wiring,
guards, filters, blocks of faults and exchange are stepped against the emulated drives.
"""

import random
import struct
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from io_bridge.wire.frame import parse
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.blocks import backends_of, compose_live
from rigloop.compose.bus import make_buses
from rigloop.compose.wiring import rig_mistakes
from rigloop.inject.others import ended_with
from rigloop.inject.place import placed
from rigloop.inject.request import again
from rt_core.loop.offline import Offline

pytestmark = pytest.mark.slow
PERIOD_NS = 1_000_000
LWR = 11
N, ARMED = 320, 80  # cycles; the filters trust their counts by then
AT_S = 0.08
BEGAN = ARMED + round(AT_S * 1e9 / PERIOD_NS)
ENABLED = 0x0F
# whom a fault strikes by itself: one axis, or all that are on the bus
OF_ONE = (
    "sensor-nan", "sensor-flicker", "angle-range", "rate-range", "request-nan", "drive-fault",
)  # fmt: skip
OF_ALL = ("sensor-stale", "wkc-low", "link-down", "al-error", "drive-watchdog", "block-fault")
GOES_ON = ("sensor-nan-blip", "wkc-low-blip", "frame-lost", "request-nan-blip")


def axis_text(name, reach, group):
    group = f'group = "{group}"\n' if group else ""
    return f"""
[blocks.bus.drives.{name}]
counts_per_rev = 1048576
rated_torque_nm = 6.37
peak_torque_nm = 19.1
watchdog_ms = 50.0
plant = {{ hands = "free", inertia_kg_m2 = 0.5, viscous_nms = 0.0, coulomb_nm = 0.0 }}

[blocks.{name}_angle]
kind = "encoder_filter"
counts_per_rev = 1048576
bandwidth_rad_s = 300.0

[blocks.{name}_angle.reads]
position_count = "bus/{name}/position_count"
valid = "bus/{name}/valid"
elapsed = "loop/fast/elapsed"

[blocks.{name}_relay]
kind = "relay"
torque_nm = 2.0
reads = {{ angle_rad = "{name}_angle/angle_rad" }}

[blocks.{name}_guard]
kind = "guard"
preset = "rig"
reach = "{reach}"
{group}limit_nm = 4.0
rate_nm_s = 1000.0
request_sign = 1
max_angle_rad = 3.0
max_rate_rad_s = 40.0
ramp_in_s = 0.01

[blocks.{name}_guard.reads]
torque_request_nm = "{name}_relay/torque_nm"
request_cycle = "loop/fast/cycle"
request_fault = "loop/fast/fault"
own_cycle = "loop/fast/cycle"
own_fault = "loop/fast/fault"
own_stop = "loop/fast/stop"
elapsed = "loop/fast/elapsed"
sensor_valid = "{name}_angle/trusted"
angle_rad = "{name}_angle/angle_rad"
rate_rad_s = "{name}_angle/rate_rad_s"
actuator_ready = "bus/{name}/operational"
heartbeat = "supervisor/heartbeat"
arm = "supervisor/arm"
stop = "supervisor/stop"
"""


def make_rig(axes, order):
    """Return a rig of axes: name → reach and group; the guards are stepped in this order."""
    blocks = ["bus", *(f"{n}_angle" for n in axes), *(f"{n}_relay" for n in axes)]
    blocks += [f"{n}_guard" for n in order]
    commands = [
        f'"{n}/torque_nm" = "{n}_guard/torque_nm"\n"{n}/enable" = "supervisor/enable"\n'
        f'"{n}/reset" = "supervisor/reset"\n'
        for n in axes
    ]
    text = (
        f'title = "axes"\n[tasks.fast]\nperiod_us = 1000\nblocks = {blocks}\n'
        '[blocks.bus]\nkind = "bus"\nbackend = "simulated"\n[blocks.bus.reads]\n'
        + "".join(commands)
        + "".join(axis_text(name, *axis) for name, axis in axes.items())
        + f'[show]\nsignals = ["{next(iter(axes))}_guard/torque_nm"]\n'
    )
    rig = rig_model().model_validate(tomllib.loads(text))
    assert not list(rig_mistakes("axes", rig))
    return rig


def random_rig(rng, n, reach):
    """Return a rig of n axes, of which one has this reach, its axes, and that one."""
    names = rng.sample(["wheel", "brake", "gas", "clutch"], n)
    struck = rng.choice(names)
    axes = {}
    for name in names:
        group = rng.choice(["pedals", "hands"])
        axes[name] = (rng.choice(["axis", "group", "all"]) if name != struck else reach, group)
    # no group of one
    for group in ("pedals", "hands"):
        alone = [name for name, axis in axes.items() if axis[1] == group]
        if len(alone) == 1:
            (name,) = alone
            other = "axis" if axes[name][0] == "group" else axes[name][0]
            axes[name] = (other, None)
    return make_rig(axes, rng.sample(names, n)), axes, struck


def reached_by(struck, axes):
    """Return the axes whose torque ends when these trip on a cause of their own."""
    found = set(struck)
    for name in struck:
        reach, group = axes[name]
        found |= {
            other
            for other, axis in axes.items()
            if reach == "all" or (reach == "group" and axis[1] == group)
        }
    return found


def run(rig, axes, *asked, stop_at=N):
    """Step a rig; return what was sent to each drive, controlword and per mille of torque a cycle, and its signals."""
    buses = make_buses(rig, backends_of(rig), {})
    composed = compose_live(rig, {}, buses)
    injections = again(asked, rig)
    with buses:
        buses.to_op()
        plan = placed(composed.plan, buses, injections, rig)
        offline = Offline(plan)
        link = buses.each["bus"].link
        link.catch_frames(1 << 22)
        cycles = np.arange(1.0, N + 1)
        forced = {
            "supervisor/heartbeat": cycles,
            "supervisor/enable": np.ones(N),
            "supervisor/arm": (cycles > ARMED).astype(float),
            "supervisor/stop": (cycles > stop_at).astype(float),
            "supervisor/reset": np.zeros(N),
        }
        image = offline.run("fast", np.arange(N) * PERIOD_NS, forced=forced)["fast"]
        frames = [
            [struct.unpack_from("<Hh", d.data) for d in parse(frame) if d.command == LWR]
            for frame in link.caught_frames()[:N]
        ]
    sent = np.array(frames)
    assert sent.shape == (N, len(axes), 2)
    signals = dict(zip(offline.paths("fast"), image.T, strict=True))
    drives = list(rig.blocks["bus"].drives)
    return SimpleNamespace(
        control={name: sent[:, drives.index(name), 0] for name in axes},
        torque={name: sent[:, drives.index(name), 1] for name in axes},
        signals=signals,
        injections=injections,
    )


def random_rigs(fault, reach):
    """Return rigs with their axes and the one to strike: one of each size, the same each time."""
    rng = random.Random(f"{fault} {reach}")
    return [random_rig(rng, n, reach) for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("reach", ["axis", "group", "all"])
@pytest.mark.parametrize("fault", OF_ONE + OF_ALL)
def test_torque_ends_in_the_frames_of_those_that_are_reached_and_in_no_others(fault, reach):
    for rig, axes, struck in random_rigs(fault, reach):
        before = run(rig, axes)
        after = run(rig, axes, f"{struck}_guard/{fault}@{AT_S}")
        (injection,) = after.injections
        ends = reached_by({struck} if fault in OF_ONE else set(axes), axes)
        assert ended_with(injection) == {f"{name}_guard" for name in ends - {struck}}
        stated = injection.stated
        for name in axes:
            # it pushed, and nothing differs before the fault
            assert np.all(before.torque[name][BEGAN - 20 :] > 300)
            np.testing.assert_array_equal(before.torque[name][:BEGAN], after.torque[name][:BEGAN])
            if name not in ends:
                np.testing.assert_array_equal(before.torque[name], after.torque[name])
                assert np.all(after.control[name][BEGAN:] == ENABLED)
                continue
            torque = after.torque[name][BEGAN:]
            # a frame has the torque of the cycle before; whom another one reaches sees it a cycle later at most
            bound = stated.zero + 1 if name == struck else stated.detect + injection.lim.ramp + 2
            assert not np.any(torque[bound:]), (axes, struck, name)
            # and on the way it never grows
            assert np.all(np.diff(np.abs(torque)) <= 0)


@pytest.mark.parametrize(
    "fault", ["drive-fault", "al-error", "drive-watchdog", "link-down", "wkc-low"]
)
def test_a_drive_that_is_lost_is_sent_zero_and_no_enabled_word_in_the_next_frame_but_one(fault):
    for rig, axes, struck in random_rigs(fault, "axis"):
        after = run(
            rig,
            axes,
            f"bus/{struck}/{fault}@{AT_S}" if fault != "link-down" else f"bus/{fault}@{AT_S}",
        )
        (injection,) = after.injections
        first = BEGAN + injection.stated.detect + 1
        assert not np.any(after.torque[struck][first:])
        assert not np.any(after.control[struck][first + 1 :] == ENABLED)


@pytest.mark.parametrize("fault", GOES_ON)
def test_a_fault_of_one_cycle_changes_no_byte_for_any_axis(fault):
    for rig, axes, struck in random_rigs(fault, "all"):
        before, after = run(rig, axes), run(rig, axes, f"{struck}_guard/{fault}@{AT_S}")
        for name in axes:
            np.testing.assert_array_equal(before.torque[name], after.torque[name])
            assert np.all(after.control[name][BEGAN:] == ENABLED)


def test_a_stop_ends_all_axes_whatever_their_reach():
    for rig, axes, _ in random_rigs("stop", "axis"):
        sent = run(rig, axes, stop_at=BEGAN)
        for name in axes:
            ramp = again([f"{name}_guard/request-nan@1"], rig)[0].lim.ramp
            assert np.all(sent.torque[name][BEGAN - 20 : BEGAN] > 300)
            assert not np.any(sent.torque[name][BEGAN + ramp + 1 :])
