"""`rigloop scope`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen
from rigloop.export.command import To

if TYPE_CHECKING:
    from rigloop.scope.capture import Capture
    from rigloop.scope.setup import Setup
    from rigloop.scope.sources import Opened

LOOK_S = 0.02


@dataclass(frozen=True)
class Wanted:
    """Files that a person wants of each capture; a picture has another capture and spectra in it, if wanted."""

    save: Path | None
    plot: Path | None
    export: To | None
    against: Capture | None
    fft: bool


class Mode(StrEnum):
    """Modes of a scope: once, at each trigger, or also without one."""

    SINGLE = "single"
    NORMAL = "normal"
    AUTO = "auto"


def scope(
    of: Annotated[
        str,
        typer.Argument(
            help="Rig that runs, folder of a run, or file of a capture; by default the newest "
            "active run."
        ),
    ] = "",
    trigger: Annotated[
        str,
        typer.Option(
            help="Condition, such as `wheel/angle_rad > 0.1 rising`; or `fault`, `late`, `now`."
        ),
    ] = "now",
    signals: Annotated[
        list[str] | None,
        typer.Option(
            help="Signals whose path contains this text, or matches it if the text has a star; "
            "repeatable. By default the signals that the rig shows, and the signals of the "
            "trigger."
        ),
    ] = None,
    pre: Annotated[float, typer.Option(min=0, help="Time before the trigger, s.")] = 0.1,
    post: Annotated[float, typer.Option(min=0, help="Time after the trigger, s.")] = 0.5,
    mode: Annotated[
        Mode, typer.Option(help="Capture once, at each trigger, or also without a trigger.")
    ] = (Mode.SINGLE),
    auto_after: Annotated[
        float, typer.Option(min=0.001, help="Time that the mode auto waits for a trigger, s.")
    ] = 1.0,
    count: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of captures after which the command ends; 0: until "
            "Ctrl-C or the end of the run.",
        ),
    ] = 0,
    delay: Annotated[
        tuple[str, str] | None, typer.Option(help="Measure the delay from one signal to another.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Compare with this stored capture.", readable=False)
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="File in which the capture is saved, .npz.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture: .png, .svg or .pdf.")] = None,
    fft: Annotated[bool, typer.Option("--fft", help="Add spectra to the picture.")] = False,
    export: Annotated[
        To | None, typer.Option(help="Write the capture in the format of another program.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Capture every cycle of chosen signals around a trigger, in a rig that runs or in a recorded run.

    The cycles before the trigger come from the rings of the run, which hold its last two seconds. With several
    captures, the number of each becomes part of its file name.
    """
    from rigloop.display.verdict import line, show_places
    from rigloop.scope.capture_file import is_capture, load_capture
    from rigloop.scope.setup import Setup, SetupError
    from rigloop.scope.view import facts_of, show_capture

    screen = Screen()
    delays = [delay] if delay else []
    found: list[dict[str, object]] = []
    with errors_as_lines(json):
        stored = load_capture(against) if against else None
        wanted = Wanted(save, plot, export, stored, fft)

        def finished(capture: Capture) -> None:
            absent = [path for pair in delays for path in pair if path not in capture.units]
            if absent:
                raise SetupError(f"--delay {absent[0]}: no signal of the capture")
            found.append(facts_of(capture, delays, stored))
            is_alone = mode is Mode.SINGLE or count == 1
            files = _written(capture, wanted, is_alone, json)
            if not json:
                show_capture(capture, delays, stored, screen)
                show_places(files, screen)

        if of and is_capture(Path(of)):
            finished(load_capture(Path(of)))
        else:
            from rigloop.scope.opened import open_any

            opened = open_any(of)
            try:
                setup = Setup(
                    signals=_chosen(opened, signals, trigger, delay),
                    trigger=trigger,
                    pre_s=pre,
                    post_s=post,
                    mode=mode.value,
                    auto_after_s=auto_after,
                    count=count,
                )
                _watch(opened, setup, finished)
            finally:
                _close(opened)

    def show() -> None:
        if not found:
            line(f"{trigger}: has not come", screen)

    answer({"captures": found}, show, json, good=bool(found))


def _chosen(
    opened: Opened, patterns: list[str] | None, trigger: str, delay: tuple[str, str] | None
) -> tuple[str, ...]:
    """Return the signals of the captures: like the patterns, or shown by the rig; those of a delay, too."""
    from rigloop.scope.opened import usual_signals
    from rigloop.scope.setup import MOST_SIGNALS, SetupError
    from rigloop.scope.sources import homes_of
    from rigloop.scope.trigger import read_trigger
    from rigloop.signals.listing import is_like

    homes = homes_of(opened)
    looked_at = read_trigger(trigger, homes).paths
    if patterns:
        chosen = [path for path in homes if any(is_like(path, like) for like in patterns)]
        if not chosen:
            raise SetupError(f"--signals {patterns[0]}: no signal of this run is like it")
    else:
        chosen = [path for path in (*usual_signals(opened), *looked_at) if path in homes]
    chosen = list(dict.fromkeys([*chosen, *(path for path in delay or () if path in homes)]))
    if not chosen:
        raise SetupError("the rig file names no signals to show: give --signals")
    if len(chosen) > MOST_SIGNALS:
        raise SetupError(f"--signals: {len(chosen)} are like it; at most {MOST_SIGNALS}")
    return tuple(chosen)


def _watch(opened: Opened, setup: Setup, finished: Callable[[Capture], None]) -> None:
    import time

    from rigloop.console.interrupts import Interrupted
    from rigloop.scope.scope import scope_on

    scope = scope_on(opened, setup)
    try:
        while scope.state not in ("done", "ended"):
            for capture in scope.poll():
                finished(capture)
            if scope.source.live and scope.state not in ("done", "ended"):
                time.sleep(LOOK_S)
    except (KeyboardInterrupt, Interrupted):
        pass  # the captures so far are the answer
    finally:
        scope.close()


def _close(opened: Opened) -> None:
    from rigloop.api.watched import Watched

    if isinstance(opened, Watched):
        opened.close()


def _written(capture: Capture, wanted: Wanted, is_alone: bool, json: bool) -> list[Path]:
    from rigloop.scope.capture_file import save_capture

    made = []
    if wanted.save:
        path = numbered(wanted.save, capture.number, is_alone)
        with writing(path, json):
            save_capture(capture, path)
        made.append(path)
    if wanted.plot:
        from rigloop.scope.plot import plot_capture

        path = numbered(wanted.plot, capture.number, is_alone)
        with writing(path, json):
            plot_capture(capture, against=wanted.against, fft=wanted.fft).savefig(path, dpi=130)
        made.append(path)
    if wanted.export:
        from io_bridge.exports.write import FORMS, write_export

        base = wanted.save or Path(f"{capture.rig}-capture")
        path = numbered(base.with_suffix(FORMS[wanted.export].ending), capture.number, is_alone)
        made += write_export(capture.measured(), wanted.export, path, replaces=True)
    return made


def numbered(path: Path, number: int, is_alone: bool) -> Path:
    """Return the path of one capture's file: of several, with its number."""
    return path if is_alone else path.with_stem(f"{path.stem}-{number}")
