"""The walk itself: it continues where it was, fakes no hand, and ends in a signature or in what is missing."""

import io
import json
import math
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from rich.console import Console
from walked_rig import write_rig
from walks import stand_of, walk_of

from io_bridge.slaves.sii import Identity
from rig_configs.mistakes import ConfigError
from rigloop.commission import commission as commissioning
from rigloop.commission.axis import Spring
from rigloop.commission.commission import check_first, commission, sign
from rigloop.commission.hands import EmulatedHands
from rigloop.commission.progress import Kept, StepResult
from rigloop.commission.step import Bench, Measured
from rigloop.commission.talk import NoHandError, PersonHands, SilentTalk, TerminalTalk
from rigloop.commission.walk import Walked, find_steps, measured, walk
from rigloop.console.interrupts import Interrupted
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.not_started import NotStartedError
from rigloop.sign_off.signed_file import read_signed, rig_hash

STEPS = {step.name: step for step in find_steps()}


def test_steps_have_places_of_their_own_and_say_what_to_do():
    assert [step.place for step in STEPS.values()] == list(range(1, len(STEPS) + 1))
    assert all(step.question.endswith("?") and step.remedy.endswith(".") for step in STEPS.values())


def test_an_interrupted_walk_goes_on_where_it_was(tmp_path):
    loaded = write_rig(tmp_path, "simulated")
    path = tmp_path / "one_drive.commissioning.json"

    def kept(stand, sha256=None):
        return Kept(path, sha256 or rig_hash(loaded), "guard", stand.identity())

    with stand_of(loaded, has_watchdog=False) as stand:
        walked = walk_of(stand, kept=kept(stand))
        assert walked.missing == ("watchdog", "emergency_stop", "stability")
    with stand_of(loaded) as stand:
        again = kept(stand)
        assert len(again.results) == 10
        done = io.StringIO()
        walked = walk_of(stand, kept=again, console=Console(file=done, width=80))
        assert walked.good
        assert "10/12" in done.getvalue()
        assert " 9/12" not in done.getvalue()
        # another rig, and another drive, begin again
        assert kept(stand, "1" * 64).results == []
        again.remove()
        assert kept(stand).results == []


def test_a_walk_from_a_step_drops_the_results_behind_it(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        kept = Kept(None, "0" * 64, "guard", stand.identity())
        for name in STEPS:
            kept.keep(StepResult(name, True, 0.0, "", None, None, "Kept."))
        walked = walk_of(stand, kept=kept, first="stability")
        assert walked.good
        assert [r.words == "Kept." for r in walked.results] == [True] * 11 + [False]
    with pytest.raises(ConfigError, match="there is no such step"):
        check_first("dance")


def test_a_walk_begins_with_no_step_whose_earlier_ones_are_not_good(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        kept = Kept(None, "0" * 64, "guard", stand.identity())
        kept.keep(StepResult("identity", True, 0.0, "", None, None, "Kept."))
        with pytest.raises(ConfigError, match="not good yet: encoder_direction, counts_per_turn"):
            walk_of(stand, kept=kept, first="zero")
        assert [r.step for r in kept.results] == ["identity"]


def test_a_result_of_yesterday_is_measured_again(tmp_path):
    path, drive = tmp_path / "kept.json", Identity(1, 2, 3, 4)
    old = datetime.now(UTC) - timedelta(hours=25)
    days = {
        "zero": utc_text(),
        "watchdog": old.isoformat(),
        "stability": "",
        "identity": "2999-01-01",
    }
    before = Kept(path, "0" * 64, "guard", drive)
    for name, when in days.items():
        before.keep(StepResult(name, True, 0.0, "", None, None, "Kept.", "", when))
    after = Kept(path, "0" * 64, "guard", drive)
    assert [(r.step, r.when) for r in after.results] == [("zero", days["zero"])]


def test_results_that_a_walk_forgets_are_gone_from_the_file_at_once(tmp_path):
    path, drive = tmp_path / "kept.json", Identity(1, 2, 3, 4)
    before = Kept(path, "0" * 64, "guard", drive)
    for name in ("zero", "watchdog", "stability"):
        before.keep(StepResult(name, True, 0.0, "", None, None, "Kept.", "", utc_text()))
    before.forget("watchdog", "stability")
    after = Kept(path, "0" * 64, "guard", drive)
    assert [result.step for result in after.results] == ["zero"]


def test_a_walk_revokes_an_older_signature_before_it_forgets_a_result(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        kept = Kept(None, "0" * 64, "guard", stand.identity())
        for name in STEPS:
            kept.keep(StepResult(name, True, 0.0, "", None, None, "Kept.", "", utc_text()))
        found = []
        talk, hands = TerminalTalk(Console(quiet=True)), EmulatedHands(stand)
        revoke = lambda: found.append(len(kept.results))  # noqa: E731
        walk(stand, hands, talk, kept, revoke=revoke)
        assert found == []
        walk(stand, hands, talk, kept, first="stability", revoke=revoke)
        assert found == [len(STEPS)]


def test_a_bad_walk_on_an_interface_leaves_no_older_signature(tmp_path, monkeypatch):
    loaded = write_rig(tmp_path)
    with stand_of(write_rig(tmp_path, "simulated"), encoder_sign=-1) as stand:
        stand.axis = replace(stand.axis, backend="eth9")
        loaded = write_rig(tmp_path)
        began = {"sha256": rig_hash(loaded), "identity": stand.identity()}
        path = sign(loaded, stand, Walked((), ()), "Ada", **began)
        monkeypatch.setattr(commissioning, "LiveStand", lambda *given: stand)
        monkeypatch.setattr(commissioning, "PersonHands", lambda *given: EmulatedHands(stand))
        talk = TerminalTalk(Console(quiet=True), [""] * 9)
        outcome = commission(loaded, talk, who="Ada", stiffness_nm_rad=5.0)
    assert outcome.missing[0] == "encoder_direction"
    assert not path.exists()


def test_the_option_makes_no_model_softer():
    told = Spring(20.0, 0.3)
    assert commissioning._stiffer(told, None) is told
    assert commissioning._stiffer(told, 30.0) == Spring(30.0, 0.3)
    assert commissioning._stiffer(None, 0.0) == Spring(0.0, 0.0)
    for given in (0.0, 19.0, math.nan):
        with pytest.raises(ConfigError, match="renders 20 Nm/rad, which is more"):
            commissioning._stiffer(told, given)


def test_an_identity_that_the_rig_does_not_state_is_not_compared(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        stand.axis = replace(stand.axis, identity=None)
        found = measured(STEPS["identity"], Bench(stand, EmulatedHands(stand)))
    assert found.words.startswith("Nothing was compared, for the rig states no identity.")


def test_the_torque_of_a_walk_stays_within_a_twentieth(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        taken = []
        play = stand.play
        stand.play = lambda *given, **named: taken.append(play(*given, **named)) or taken[-1]
        assert walk_of(stand).good
        assert max(abs(take.command_nm).max() for take in taken) <= stand.axis.walk_nm * (1 + 1e-12)
        assert stand.axis.walk_nm == pytest.approx(0.6)
        assert stand.device.wanted_torque_nm == 0.0


def test_results_that_a_stranger_could_have_written_are_measured_again(tmp_path):
    path = tmp_path / "one_drive.commissioning.json"
    result = StepResult("identity", True, 0.0, "", 0.0, 0.0, "Good.", when=utc_text())
    who = Identity(1, 2, 3, 4)
    Kept(path, "0" * 64, "guard", who).keep(result)
    assert Kept(path, "0" * 64, "guard", who).results == [result]
    path.chmod(0o666)
    assert Kept(path, "0" * 64, "guard", who).results == []


def test_a_walk_bears_a_record_with_missing_cycles(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        play = stand.play

        def torn(*given, **named):
            take = play(*given, **named)
            n = len(take.t_s)
            # two of three are missing for a while, and now and then some more
            keep = (np.arange(n) % 3 == 0) | (np.arange(n) > n // 3)
            keep &= np.arange(n) % 211 > 10
            arrays = {f.name: getattr(take, f.name) for f in fields(take) if f.name != "trip"}
            return replace(take, **{name: column[keep] for name, column in arrays.items()})

        stand.play = torn
        walked = walk_of(stand)
    assert walked.good, walked.results[-1]


def test_no_answer_fakes_a_hand(tmp_path):
    console = Console(quiet=True)
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        hands = PersonHands(SilentTalk(console), answers=False)
        for step in STEPS.values():
            found = measured(step, Bench(stand, hands))
            # a wheel that nobody has let go of gets no torque either
            no_hand = (False, "Come to the wheel.")
            assert (found.good, found.remedy) == (
                (True, "") if step.name == "identity" else no_hand
            )
        assert stand.device.wanted_torque_nm == 0.0
    answers = TerminalTalk(console, ["one"])
    assert answers.ask("?") == "one"
    with pytest.raises(NoHandError, match="used up"):
        answers.ask("?")


def test_a_wheel_that_is_held_fast_is_bad_and_no_traceback(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), coulomb_nm=5.0) as stand:
        bench = Bench(stand, EmulatedHands(stand))
        found = measured(STEPS["torque_direction"], bench)
        assert not found.good
        assert "hardly moved" in found.words
        assert not measured(STEPS["torque_constant"], bench).good


def test_a_drive_that_does_not_follow_is_bad_and_no_traceback(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        stand.device.trip(0x2310)
        found = measured(STEPS["torque_direction"], Bench(stand, EmulatedHands(stand)))
        assert not found.good
        assert "the drive does not follow (statusword 0x0008)" in found.words


def test_what_cannot_be_a_number_of_a_limit_is_bad():
    assert not Measured(None, "").good
    assert not Measured(float("nan"), "", 0.0, 1.0).good
    assert Measured(0.5, "", 0.0, 1.0).good


def test_a_good_walk_is_signed_for_its_axis_rig_and_drive(tmp_path):
    loaded = write_rig(tmp_path, "simulated")
    with stand_of(loaded) as stand:
        began = {"sha256": rig_hash(loaded), "identity": stand.identity()}
        walked = walk_of(stand)
        stand.axis = replace(stand.axis, backend="eth9")
        with pytest.raises(NotStartedError, match="nobody has signed"):
            sign(loaded, stand, walked, "  ", **began)
        path = sign(loaded, stand, walked, "Ada\n Lovelace", **began)
        found = read_signed(path)
        assert found.rig_sha256 == rig_hash(loaded)
        axis = found.axes["guard"]
        assert (axis.drive, axis.interface, axis.who) == ("bus/wheel", "eth9", "Ada Lovelace")
        assert axis.identity.identity == stand.identity()
        assert [step.step for step in axis.steps] == list(STEPS)
        text = path.read_text()
        assert text.count("\n") > 50, "a person reads it"
        assert json.loads(text)["axes"]["guard"]["identity"]["vendor"] == "0x00000a7e"


def test_nothing_is_signed_for_a_rig_or_a_drive_that_has_changed_since_the_walk_began(tmp_path):
    loaded = write_rig(tmp_path, "simulated")
    with stand_of(loaded) as stand:
        walked = Walked((), ())
        began = {"sha256": rig_hash(loaded), "identity": Identity(9, 9, 9, 9)}
        with pytest.raises(NotStartedError, match="another drive than the one that the walk began"):
            sign(loaded, stand, walked, "Ada", **began)
        began["identity"] = stand.identity()
        loaded.path.write_text(loaded.text.replace("limit_nm = 12.0", "limit_nm = 90.0"))
        with pytest.raises(NotStartedError, match="has changed since the walk began"):
            sign(loaded, stand, walked, "Ada", **began)
    assert [path.name for path in tmp_path.iterdir()] == ["one_drive.toml"]


def test_a_rehearsal_signs_nothing(tmp_path):
    loaded = write_rig(tmp_path, "simulated")
    said = io.StringIO()
    talk = TerminalTalk(Console(file=said, width=80), [])
    outcome = commission(loaded, talk, stiffness_nm_rad=5.0)
    assert outcome.good, outcome.steps
    assert (outcome.rehearsal, outcome.signed) == (True, None)
    assert [path.name for path in tmp_path.iterdir()] == ["one_drive.toml"]
    assert max(map(len, said.getvalue().splitlines())) <= 80


def test_a_rig_without_a_model_asks_for_its_stiffness(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), spring=None) as stand:
        found = measured(STEPS["stability"], Bench(stand, EmulatedHands(stand)))
        assert "--stiffness" in found.remedy


def test_results_show_their_limits():
    def figure(*numbers, unit="ms"):
        return StepResult("zero", True, numbers[0], unit, *numbers[1:], "").figure()

    assert figure(1.5, None, 2.0) == "1.5 ms, at most 2"
    assert figure(1.5, 1.0, None, unit="°") == "1.5°, at least 1"
    assert figure(1.5, 1.0, 2.0, unit="") == "1.5, limits 1 to 2"
    assert figure(None, 1.0, 2.0) == ""


def test_a_walk_of_no_step_is_over_at_once(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        kept = Kept(None, "0" * 64, "guard", stand.identity())
        talk = TerminalTalk(Console(quiet=True))
        assert walk(stand, EmulatedHands(stand), talk, kept, steps=[]).good


def test_an_interrupt_in_the_middle_of_a_take_ends_at_zero_torque(tmp_path):
    def interrupted():
        assert stand.device.wanted_torque_nm != 0.0
        raise Interrupted("SIGINT")

    with (
        pytest.raises(Interrupted),
        stand_of(write_rig(tmp_path, "simulated")) as stand,
    ):
        stand.play(np.full(200, 0.3), during=interrupted)
    assert stand.device.wanted_torque_nm == 0.0


@pytest.mark.parametrize("news", [["wheel: left OP: it does not answer"], []])
def test_a_step_that_the_bus_disturbed_is_tried_once_more_with_the_drive_reset(news, tmp_path):
    done = io.StringIO()
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        play, said = stand.play, [list(news)]

        def disturbed(*takes, **more):
            if said:
                # as when a drive that was not heard has run out of patience
                stand.device.trip(0x8130)
            return play(*takes, **more)

        stand.play = disturbed
        stand.news = lambda: said.pop() if said else []
        console = Console(file=done, width=80)
        walked = walk_of(stand, names=["torque_direction"], console=console)
    # without a word of the bus it is the drive's own doing
    assert walked.good == bool(news)
    assert ("Once more" in done.getvalue()) == bool(news)
    assert done.getvalue().count("does not follow") == 1
