"""The torque of a rig on an interface: a twentieth, until a person has signed for this rig and this drive."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from signed_rigs import DRIVE, limit, signed
from walked_rig import write_rig

from io_bridge.slaves.drive_config import SIMULATED_IDENTITY
from io_bridge.slaves.own_scale import OwnScale
from io_bridge.slaves.sii import Identity
from io_bridge.wire.frame import parse
from rig_configs.load import HERE
from rigloop.commission.axis import axis_of
from rigloop.commission.walk import find_steps
from rigloop.compose.blocks import compose_live
from rigloop.compose.bus import make_buses
from rigloop.compose.derived_rig import derived
from rigloop.compose.parts import backends_of, find_buses, find_guards
from rigloop.compose.wiring import load
from rigloop.run_folder.not_started import NotStartedError
from rigloop.sign_off.limit import (
    limited_by_drives,
    limited_by_files,
    limited_rig,
    refuse_unlimited,
)
from rigloop.sign_off.signed_file import (
    drop_axis,
    read_signed,
    signed_path,
    step_names,
    write_signed,
)
from rigloop.sign_off.words import signed_facts, signed_notes, signed_words
from rt_core.loop.offline import Offline
from rt_core.steps import Steps, in_order


def test_a_rig_that_nobody_has_signed_has_a_twentieth_of_its_torque(tmp_path):
    loaded = write_rig(tmp_path)
    found = limit(loaded)
    assert found.limits_nm == {"guard": pytest.approx(0.6)}
    assert found.line() == (
        "torque limited to 5 % (guard 0.6 Nm): not commissioned: there is no one_drive.commissioned.json "
        f"beside the rig; `rigloop commission {loaded.argument}` walks through it"
    )
    assert signed_notes(loaded) == [f"{found.line()}; simulated segments are exempt"]
    assert signed_facts(loaded)["limited"]["limits_nm"] == found.limits_nm


def test_a_limit_beyond_the_peak_of_the_drive_gives_no_more_than_a_twentieth_of_the_peak(tmp_path):
    loaded = write_rig(tmp_path, "eth9", ("limit_nm = 12.0", "limit_nm = 5000.0"))
    assert limit(loaded).limits_nm == {"guard": pytest.approx(0.05 * 19.1)}
    axis = axis_of(loaded, None, backends_of(loaded.rig))
    assert axis.walk_nm == pytest.approx(0.05 * 19.1)


def test_an_axis_whose_counter_is_a_shorter_one_is_not_walked(tmp_path):
    short = ('"encoder_filter"\n', '"encoder_filter"\ncounter_span = 16777216.0\n')
    loaded = write_rig(tmp_path, "eth9", short)
    with pytest.raises(NotStartedError, match="counter_span = 16777216: the walk knows counters"):
        axis_of(loaded, None, backends_of(loaded.rig))


def test_the_remedy_names_the_bus_of_the_run(tmp_path):
    loaded = write_rig(tmp_path, "simulated")
    command = f"`rigloop commission {loaded.argument} --bus eth7` walks through it"
    assert limit(loaded, backend="eth7").remedy == command


def test_the_remedy_names_each_guard_of_several_and_the_bus_of_each():
    loaded = load("two_lines")
    first, second = find_guards(loaded.rig)
    asked = ",".join(f"{bus}=eth{i}" for i, bus in enumerate(find_buses(loaded.rig)))
    found = limited_by_files(loaded, backends_of(loaded.rig, asked))[0]
    command = f"`rigloop commission two_lines --bus {asked} --guard"
    assert found.remedy == f"{command} {first}`, {command} {second}` walk through it"


@pytest.mark.parametrize("mode", ["velocity", "position"])
def test_a_drive_that_follows_no_torque_is_refused_on_an_interface(mode, tmp_path):
    command = {"velocity": "wheel/velocity_rad_s", "position": "wheel/position_rad"}[mode]
    loaded = write_rig(tmp_path, "eth9")
    drive = loaded.rig.blocks["bus"].drives["wheel"].model_copy(update={"mode": mode})
    reads = {command: "guard/torque_nm"}
    bus = loaded.rig.blocks["bus"].model_copy(update={"drives": {"wheel": drive}, "reads": reads})
    rig = loaded.rig.model_copy(update={"blocks": {**loaded.rig.blocks, "bus": bus}})
    with pytest.raises(
        NotStartedError, match=rf"bus/wheel \(mode '{mode}'\): does not follow a torque"
    ):
        refuse_unlimited(rig, backends_of(rig))
    (note,) = signed_notes(replace(loaded, rig=rig))
    assert "no guard limits it" in note
    refuse_unlimited(rig, backends_of(rig, "simulated"))
    refuse_unlimited(loaded.rig, backends_of(loaded.rig))


@pytest.mark.parametrize("backend", ["simulated", "veth"])
def test_an_emulated_segment_is_exempt(backend, tmp_path):
    assert limit(write_rig(tmp_path), backend=backend) is None
    assert limit(write_rig(tmp_path, backend)) is None
    assert signed_notes(write_rig(tmp_path, backend)) == []


def test_a_signed_rig_with_the_drive_that_was_signed_has_its_own_limits(tmp_path):
    loaded = write_rig(tmp_path)
    path = signed(loaded)
    assert path == signed_path(loaded) == tmp_path / "one_drive.commissioned.json"
    assert limit(loaded) is None
    assert limited_rig(loaded.rig, None) is loaded.rig
    (line,) = signed_words(loaded)
    assert line.startswith("guard: commissioned 20")
    assert "by Ada Lovelace, drive bus/wheel on eth9" in line
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("field", ["vendor", "product", "revision", "serial"])
def test_another_drive_takes_the_torque_away(field, tmp_path):
    loaded = write_rig(tmp_path)
    signed(loaded)
    other = Identity(**{**vars(DRIVE), field: 77})
    found = limit(loaded, other)
    assert found.limits_nm == {"guard": pytest.approx(0.6)}
    assert "is another drive than the one signed off" in found.line()
    assert f"{field} 0x4d" in found.line()


def said(loaded, own):
    """Return the limit of a run whose drive is the one that was signed, and says this of its torque."""
    backends = backends_of(loaded.rig)
    known, numbers = limited_by_files(loaded, backends)
    found = {"bus/wheel": DRIVE}
    return limited_by_drives(loaded.rig, backends, known, numbers, found, "rig", own=own)


@pytest.mark.parametrize(
    ("own", "limit_nm"),
    [
        # a rig that means 6.37 Nm by 1000 per mille, and gets three times as much
        (OwnScale(19.11, None), 0.6 / 3.0),
        # a drive that gives at most 6 Nm: 5 % of them, not of the 12 Nm of the rig
        (OwnScale(6.0, 1000), 0.3),
        (OwnScale(None, 500), 0.05 * 0.5 * 6.37),
        (OwnScale(60.0, 100), 0.3 * 6.37 / 60.0),
        # a drive that gives less than the rig means, or does not say: what the file states
        (OwnScale(1.0, None), 0.6),
        (OwnScale(6.37, 3000), 0.6),
        (OwnScale(None, None), 0.6),
    ],
)
def test_a_twentieth_is_one_of_what_the_drive_gives_by_its_own_word(own, limit_nm, tmp_path):
    found = said(write_rig(tmp_path), {"bus/wheel": own})
    assert found.limits_nm == {"guard": pytest.approx(limit_nm)}


def test_a_file_that_states_any_limit_and_any_peak_gives_no_more(tmp_path):
    changes = (("limit_nm = 12.0", "limit_nm = 5000.0"), ("torque_nm = 19.1", "torque_nm = 200.0"))
    loaded = write_rig(tmp_path, "eth9", *changes)
    assert limit(loaded).limits_nm == {"guard": pytest.approx(10.0)}
    found = said(loaded, {"bus/wheel": OwnScale(6.37, 3000)})
    assert found.limits_nm == {"guard": pytest.approx(0.05 * 19.11)}


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (OwnScale(19.11, None), "rated torque of 19.1 Nm (0x6076), the rig has 6.37"),
        (OwnScale(6.37, 4000), "own limit (0x6072) is 25.5 Nm; the rig has peak_torque_nm = 19.1"),
    ],
)
def test_a_signed_drive_that_was_scaled_anew_has_a_twentieth(own, words, tmp_path):
    loaded = write_rig(tmp_path)
    signed(loaded)
    assert said(loaded, {"bus/wheel": OwnScale(6.37, 3000)}) is None
    assert said(loaded, {"bus/wheel": OwnScale(None, None)}) is None
    found = said(loaded, {"bus/wheel": own})
    assert found.limits_nm["guard"] <= 0.6 + 1e-9
    assert words in found.line()
    assert "another scale than when it was signed off" in found.line()


def test_a_drive_that_cannot_be_seen_is_not_the_one_that_was_signed(tmp_path):
    loaded = write_rig(tmp_path)
    signed(loaded)
    backends = backends_of(loaded.rig)
    known, numbers = limited_by_files(loaded, backends)
    found = limited_by_drives(loaded.rig, backends, known, numbers, {}, "rig")
    assert found is not None


def test_a_change_of_the_rig_takes_the_torque_away(tmp_path):
    signed(write_rig(tmp_path))
    changed = write_rig(tmp_path, "eth9", ("limit_nm = 12.0", "limit_nm = 13.0"))
    found = limit(changed)
    assert found.limits_nm == {"guard": pytest.approx(0.65)}
    assert "has changed since one_drive.commissioned.json was signed" in found.line()


def test_a_change_of_a_file_that_the_rig_names_takes_the_torque_away(tmp_path):
    mechanism = tmp_path / "four_bar.toml"
    mechanism.write_text((HERE / "mechanisms" / "four_bar.toml").read_text())
    changes = (
        ('blocks = ["relay"]', 'blocks = ["relay", "model"]'),
        (
            "[blocks.relay]",
            '[blocks.model]\nkind = "mechanism"\nmechanism = "four_bar.toml"\n\n[blocks.relay]',
        ),
    )
    loaded = write_rig(tmp_path, "eth9", *changes)
    signed(loaded)
    assert limit(loaded) is None
    mechanism.write_text(mechanism.read_text() + "\n# heavier\n")
    assert "a file that it names" in limit(loaded).line()


def test_a_signature_of_another_axis_is_none(tmp_path):
    loaded = write_rig(tmp_path)
    signed(loaded, guard="other")
    assert "has not guard with the drive bus/wheel" in limit(loaded).line()


def test_the_steps_of_a_signature_are_those_of_the_walk(tmp_path):
    assert step_names() == {step.name for step in find_steps()}
    loaded = write_rig(tmp_path)
    path = signed(loaded)
    whole = read_signed(path)
    axis = whole.axes["guard"]
    for steps, words in (((), "has no counts_per_turn"), (axis.steps[1:], "has no identity of")):
        axes = {"guard": msgspec.structs.replace(axis, steps=steps)}
        write_signed(path, msgspec.structs.replace(whole, axes=axes))
        assert limit(loaded).limits_nm == {"guard": pytest.approx(0.6)}
        assert words in limit(loaded).line()


def test_an_axis_that_is_dropped_is_signed_no_longer_and_others_stay(tmp_path):
    loaded = write_rig(tmp_path)
    path = signed(loaded)
    signed(loaded, guard="other")
    assert set(read_signed(path).axes) == {"guard", "other"}
    drop_axis(path, "guard")
    drop_axis(path, "guard")
    assert set(read_signed(path).axes) == {"other"}
    assert "has not guard" in limit(loaded).line()
    drop_axis(path, "other")
    assert not path.exists()
    drop_axis(path, "other")


def deep_versions(loaded):
    path = signed(loaded)
    text = path.read_text()
    return text.replace('"versions": {', '"versions": {"a": ' + '{"a": ' * 100_000, 1)


@pytest.mark.parametrize(
    "spoil",
    [
        deep_versions,
        lambda loaded: '{"deep": ' * 100_000,
        lambda loaded: " " * (1 << 21),
        lambda loaded: signed(loaded).read_text().replace("0.1", "NaN"),
        lambda loaded: signed(loaded).read_text().replace("0.1", "1e999"),
        lambda loaded: signed(loaded).read_text().replace("Ada", "\\ud800"),
    ],
)
def test_a_hostile_file_is_no_signature_and_no_traceback(spoil, tmp_path):
    loaded = write_rig(tmp_path)
    signed_path(loaded).write_text(spoil(loaded))
    assert "cannot be read" in limit(loaded).line()
    assert signed_words(loaded) == []
    assert len(signed_notes(loaded)) == 1


@pytest.mark.parametrize("text", ["", "{}", "not json", '{"rig": 3}', "[" * 100_000])
def test_a_file_that_cannot_be_read_is_no_signature(text, tmp_path):
    loaded = write_rig(tmp_path)
    signed_path(loaded).write_text(text)
    assert "cannot be read" in limit(loaded).line()
    assert signed_words(loaded) == []


def test_a_benchmark_of_a_signed_rig_stands_as_that_rig(tmp_path):
    loaded = write_rig(tmp_path)
    signed(loaded)
    folder = tmp_path / "bench"
    folder.mkdir()

    def change(tables):
        tables["tasks"]["fast"]["priority"] = 71

    assert limit(derived(loaded, folder, "faster", change)) is None

    def weaken(tables):
        tables["blocks"]["guard"]["rate_nm_s"] = 9000.0

    assert "another guard or drive" in limit(derived(loaded, folder, "weaker", weaken)).line()


def commands_on_the_wire(rig, seconds=0.3):
    """Return the torques (Nm) in the frames that left the master."""
    buses = make_buses(rig, {"bus": "simulated"})
    with buses:
        buses.to_op()
        link = buses.each["bus"].link
        composed = compose_live(rig, {}, buses)
        link.catch_frames(1 << 22)
        n = round(seconds / 200e-6)
        times = {"fast": np.arange(n) * 200_000, "slow": np.arange(n // 5) * 1_000_000}
        seen = in_order(times)
        ones = np.ones(n)
        supervisor = {
            "supervisor/heartbeat": np.arange(n) + 1.0,
            "supervisor/enable": ones,
            "supervisor/arm": (np.arange(n) > n // 3) * 1.0,
        }
        steps = {
            "fast": Steps(times["fast"], seen["fast"], supervisor),
            "slow": Steps(times["slow"], seen["slow"]),
        }
        Offline(composed.plan).run_together(steps)
        sent = [
            int.from_bytes(d.data[2:4], "little", signed=True)
            for frame in link.caught_frames()
            for d in parse(frame)
            if d.command in (10, 11, 12) and len(d.data) >= 5
        ]
    return 1e-3 * 6.37 * np.array(sent)


def test_the_limit_is_in_the_bytes_that_leave_the_master(tmp_path):
    loaded = write_rig(tmp_path)
    limited = limited_rig(loaded.rig, limit(loaded))
    assert loaded.rig.blocks["guard"].limit_nm == 12.0
    free = np.abs(commands_on_the_wire(loaded.rig))
    bound = np.abs(commands_on_the_wire(limited))
    assert free.max() == pytest.approx(11.0, abs=7e-3)
    # a thousandth of the rated torque is the resolution of the command
    assert 0.55 < bound.max() <= 0.6 + 6.37e-3 / 2


def test_every_slave_says_who_it_is(tmp_path):
    buses = make_buses(write_rig(tmp_path, "simulated").rig, {"bus": "simulated"})
    with buses:
        assert buses.identities() == {}
        buses.to_op()
        assert buses.identities() == {"bus/wheel": SIMULATED_IDENTITY}
