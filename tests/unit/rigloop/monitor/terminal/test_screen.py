"""The terminal of a rig: it takes control, arms at the second press, writes, stops, and bears a rig that goes away."""

import asyncio
import sys
from types import SimpleNamespace

import pytest
import typer
from recorded_runs import ANGLE, write_recorded_run

from rigloop.monitor import command
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.source import Moment, Source, SourceGoneError, SourceRefusedError
from rigloop.monitor.terminal.looker import Looker

pytest.importorskip("textual")
from rigloop.monitor.terminal.screen import Monitor

LONG_S = 60.0  # on a machine on which all else is busy
MARKUP = "[red]<b>& wheel[/nonsense]"


class GivenRig(Source):
    """A rig that does what it is asked, without a service."""

    kind = "service"

    def __init__(self, recorded):
        self.description = recorded.description
        self.signals = recorded.signals
        self.done, self.mine, self.phase, self.is_gone = [], False, "idle", False

    def moment(self):
        if self.is_gone:
            raise SourceGoneError("the service is gone")
        return Moment("run", 1, self.phase, "", MARKUP if self.mine else "", "", 2.5, self.mine)

    def capture(self, paths, task, from_ns, to_ns):
        raise NotImplementedError

    def newest(self, paths):
        return dict.fromkeys(paths, 0.25)

    def command(self, name, **keys):
        self.done.append((name, keys))
        if name in ("arm", "write") and not self.mine:
            raise SourceRefusedError(f"{name}: {MARKUP} is in control")
        self.mine = {"take": True, "give": False}.get(name, self.mine)
        self.phase = {"arm": "armed", "stop": "idle"}.get(name, self.phase)
        return name

    def close(self):
        pass


@pytest.fixture
def rig(tmp_path):
    return GivenRig(RecordedSource(write_recorded_run(tmp_path)))


class Watched(Monitor):
    """A screen that keeps all of its pictures: an answer to a command is in one of them only."""

    pictures = ()

    @property
    def picture(self):
        return self.pictures[-1]

    @picture.setter
    def picture(self, new):
        self.pictures = (*self.pictures, new)


def driven(rig, steps):
    """Run the screen on a terminal that is none, and take steps with it."""

    async def run():
        app = Watched(Looker(lambda: rig), sure_s=LONG_S)
        async with app.run_test(size=(120, 40)) as pilot:
            seen = 0

            async def until(what):
                nonlocal seen
                end = asyncio.get_running_loop().time() + LONG_S
                while not any(map(what, app.pictures[seen:])):
                    assert asyncio.get_running_loop().time() < end, app.picture
                    await pilot.pause(0.02)
                # what was seen is over, but for the picture of now
                seen = len(app.pictures) - 1

            async def turn():
                n = len(app.pictures) + 2  # the next one may have begun before
                await until(lambda p: len(app.pictures) >= n)

            await steps(SimpleNamespace(press=pilot.press, until=until, turn=turn, app=app))

    asyncio.run(run())


def test_a_person_takes_control_arms_at_the_second_press_and_stops(rig):
    async def steps(screen):
        await screen.until(lambda p: p.state == "NO RUN")
        await screen.press("a", "a")
        await screen.until(lambda p: ("arm", {}) in rig.done)
        assert rig.phase == "idle"  # refused: not in control
        await screen.press("t")
        await screen.until(lambda p: p.mine)
        n = len(rig.done)
        await screen.press("a")
        await screen.turn()
        assert len(rig.done) == n  # the first press asks
        await screen.press("a")
        await screen.until(lambda p: p.state == "ARMED" and p.level == "good")
        assert {s.path for s in screen.app.picture.signals} & {ANGLE}
        await screen.press("escape")
        await screen.until(lambda p: p.state == "NO RUN")
        assert rig.done[-1] == ("stop", {})

    driven(rig, steps)


def test_live_values_are_written_from_a_line(rig):
    async def steps(screen):
        await screen.press("t")
        await screen.until(lambda p: p.mine)
        await screen.press("w", *"gain=0.5", "enter")
        await screen.until(lambda p: rig.done[-1] == ("write", {"values": {"gain": 0.5}}))
        await screen.press("w", *"gain=x", "enter")
        await screen.turn()
        assert rig.done[-1] == ("write", {"values": {"gain": 0.5}})

    driven(rig, steps)


def test_names_with_markup_are_text_and_a_rig_that_is_gone_is_said(rig):
    async def steps(screen):
        await screen.press("t")
        await screen.until(lambda p: p.mine)
        await screen.press("t")
        await screen.until(lambda p: not p.mine)
        await screen.press("a", "a")
        await screen.until(lambda p: p.said and MARKUP in p.said[0][1])
        rig.is_gone = True
        await screen.until(lambda p: p.state == "GONE" and "service is gone" in p.faults[0])
        rig.is_gone = False
        await screen.until(lambda p: p.state == "NO RUN")

    driven(rig, steps)


def test_a_missing_library_is_named_with_its_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    monkeypatch.delitem(sys.modules, "rigloop.monitor.terminal.screen", raising=False)
    with pytest.raises(typer.Exit) as ended:
        command.monitor("steering_wheel", tui=True)
    assert ended.value.exit_code == 3
    out = capsys.readouterr()
    assert "pip install 'rigloop[tui]'" in out.out + out.err
