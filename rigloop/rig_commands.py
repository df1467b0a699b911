"""The commands on a rig: arguments in, one exit code out; the work is in the modules that they call."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from rig_configs.plain import line as plain_line
from rigloop.console import interrupts
from rigloop.console.answers import Exit, JsonOption, answer, errors_as_lines, fail, print_json
from rigloop.console.lasting_console import lasting_console
from rigloop.console.run_options import (
    BusOption,
    MappingOption,
    ModeOption,
    PageOption,
    RigArgument,
    RunsOption,
    TrustOption,
)
from rigloop.console.screen import Screen
from rigloop.run_folder.messages import Mode

MOST_LEFT_OUT = 1_000_000  # cycles, of which one is kept

if TYPE_CHECKING:
    from rig_configs.load import LoadedRig
    from rigloop.run_folder.outcome import Outcome


def run(
    rig: RigArgument,
    for_s: Annotated[
        float | None,
        typer.Option("--for", min=0.1, max=86_400, help="Seconds to run; by default until Ctrl-C."),
    ] = None,
    bus: BusOption = None,
    telemetry: Annotated[
        str | None,
        typer.Option(
            help="Publish the newest signals over ZeroMQ here, such as `tcp://127.0.0.1:9872`."
        ),
    ] = None,
    mode: ModeOption = Mode.DEGRADED,
    trust: TrustOption = False,
    inject: Annotated[
        list[str] | None,
        typer.Option(
            help="FAULT@T or FAULT:VALUE@T: inject this fault T seconds after arming; repeatable. "
            "In a rig with several axes, WHOM/FAULT@T strikes one of them. `rigloop faults` "
            "lists the faults."
        ),
    ] = None,
    reset_drives: Annotated[
        bool,
        typer.Option(
            "--reset-drives",
            help="Reset drives that are in their fault state at the start; without this option such "
            "a run is refused.",
        ),
    ] = False,
    page: PageOption = True,
    until_eof: Annotated[
        bool,
        typer.Option(
            "--until-eof",
            help="End the run when standard input ends, so that the run cannot outlive the program "
            "that started it.",
        ),
    ] = False,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Start without torque and with the drives disabled; a line `arm` on standard input "
            "arms. Needs --until-eof.",
        ),
    ] = False,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Run a rig live: arm it, show its signals, ramp the torque out, and print a verdict."""
    from rigloop.host.children import cycle_process

    console = lasting_console(stderr=json)
    if hold and not until_eof:
        fail(["--hold: nothing could arm the run: give --until-eof too"], Exit.WRONG_INPUT, json)
    with cycle_process() as cycle, errors_as_lines(json):
        orders = None
        if until_eof:
            from rigloop.live_values.orders import LiveOrders, follow_stdin

            orders = LiveOrders()
            interrupts.interrupt_at_eof(partial(follow_stdin, orders))
        from rigloop.live.run_options import RunOptions
        from rigloop.live.supervise import run_live

        outcome = run_live(
            _trusted(_load(rig), trust),
            cycle,
            RunOptions(
                runs,
                console,
                for_s,
                bus,
                telemetry,
                mode,
                tuple(inject or ()),
                reset_drives,
                page,
                orders,
                hold,
            ),
        )
    _finish(outcome, console, json)


def replay(
    log: Annotated[
        Path,
        typer.Argument(
            help="A logged encoder file, or the folder of a recorded run.", readable=False
        ),
    ],
    rig: Annotated[
        str | None,
        typer.Option(
            help="Rig that the log feeds, by default steering_wheel. With a recorded run: rig that "
            "replaces the recorded one in a what-if replay."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="KEY=VALUE: change a key of the rig file, such as "
            "`blocks.wheel.bandwidth_rad_s=250`; repeatable.",
        ),
    ] = None,
    mapping: MappingOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue a replay with `--keep summary` or `--keep N` that was stopped or killed; "
            "give its run folder, or the log.",
        ),
    ] = False,
    keep: Annotated[
        str,
        typer.Option(
            help="Cycles of a log that are recorded: `all`, one in `N`, or none with `summary`. `N` "
            "and `summary` write no report page, and accept a log of any length.",
        ),
    ] = "all",
    trust: TrustOption = False,
    page: PageOption = True,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Feed a log or a recorded run through the same filter and kernel, without a clock.

    A recorded run is compared with its record bit for bit. With `--rig` or `--set` the replay is a what-if: another rig
    sees the same inputs as the recorded one, and the answer and `differences.json` list the differences.

    A replay of a long log saves its position every ten seconds. If it is stopped or killed, `--resume` continues from
    there, and ends with the same bits.
    """
    from rigloop.compose.changed_rig import changed_rig
    from rigloop.replay.replay import replay_log, replay_run
    from rigloop.replay.what_if import replay_changed

    every = _kept_cycles(keep, json)
    if every is not None and log.is_dir():
        fail(
            [f"--keep {keep}: a recorded run is kept whole; it is for logs"], Exit.WRONG_INPUT, json
        )
    if resume and (rig or set_ or mapping or every is not None):
        fail(
            [
                "--resume: rig, keys, mapping and kept cycles are those of the start of the replay; omit these options"
            ],
            Exit.WRONG_INPUT,
            json,
        )
    console = Screen(stderr=json)
    with errors_as_lines(json), TemporaryDirectory() as made:
        if resume:
            from rigloop.replay.long_log import resume_long_log
            from rigloop.replay.place import stopped_replay

            folder = log if log.is_dir() else stopped_replay(log, runs)
            outcome = resume_long_log(folder, console=console, trusts=trust)
        elif log.is_dir() and (rig or set_):
            outcome = replay_changed(
                log, rig, set_ or (), runs=runs, console=console, trusts=trust, page=page
            )
        elif log.is_dir():
            outcome = replay_run(log, runs=runs, console=console, trusts=trust, page=page)
        else:
            loaded = changed_rig(_load(rig or "steering_wheel"), set_ or (), Path(made))
            fed = _trusted(loaded, trust)
            if every is not None:
                from rigloop.replay.long_log import replay_long_log

                outcome = replay_long_log(
                    log, fed, mapping=mapping, runs=runs, console=console, every=every
                )
            else:
                outcome = replay_log(
                    log, fed, mapping=mapping, runs=runs, console=console, page=page
                )
    _finish(outcome, console, json)


def _kept_cycles(keep: str, json: bool) -> int | None:
    """Return one of how many cycles is kept; 0: none, None: all of them."""
    if keep in ("all", "summary"):
        return None if keep == "all" else 0
    if keep.isascii() and keep.isdecimal() and 1 <= int(keep) <= MOST_LEFT_OUT:
        return int(keep)
    fail([f"--keep {plain_line(keep, 40)}: give all, summary, or a number from 1 to {MOST_LEFT_OUT}"],
         Exit.WRONG_INPUT, json)  # fmt: skip


def check(rig: RigArgument, json: JsonOption = False) -> None:
    """Check a rig file: schema, tasks, wiring, observability of its observers' estimates, margin of its wheel against
    singing, and whether every cycle ends in time on this machine. Starts nothing.
    """
    from rigloop.api.checking import check_rig
    from rigloop.compose.schedule import in_words as timings_in_words
    from rigloop.haptic.check import in_words as margins_in_words
    from rigloop.sign_off.words import signed_facts, signed_words
    from rigloop.signals.notes import signal_facts, signal_words

    with errors_as_lines(json):
        loaded = _load(rig)
        with Screen(stderr=True).status("kernel") as status:
            checked = check_rig(loaded, status.update)
    notes = checked.notes
    if json:
        message = {"rig": loaded.name, "sha256": loaded.sha256, "mistakes": [], "notes": notes}
        facts = {
            "haptic": checked.margins,
            "timing": checked.timings,
            "signals": signal_facts(loaded.rig),
            "commissioned": signed_facts(loaded),
        }
        print_json(message | facts)
    else:
        words = escape(f"{loaded.path}: {loaded.rig.title}")
        Screen().print(f"[green]good[/]  {words}", soft_wrap=True, highlight=False)
        lines = [*margins_in_words(checked.margins), *timings_in_words(checked.timings)]
        lines += signal_words(loaded.rig, loaded.argument)
        for line in (*lines, *signed_words(loaded)):
            Screen().print(f"      {escape(line)}", soft_wrap=True, highlight=False)
        for note in notes:
            Screen().print(f"[yellow]•[/] {escape(note)}", soft_wrap=True, highlight=False)


def doctor(
    rig: Annotated[
        str | None, typer.Argument(help="Rig whose cores, periods and bus are examined.")
    ] = None,
    bus: Annotated[
        str | None, typer.Option(help="As for `run`; a network interface is examined in detail.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Examine this machine: list what keeps a run from being on time, why, and the remedy. Changes nothing."""
    from rigloop.doctor.checks import demands_of, demands_without_rig, examine
    from rigloop.doctor.view import as_message, show
    from rt_core.doctor.check import is_good

    with errors_as_lines(json):
        demands = demands_of(_load(rig).rig, bus) if rig else demands_without_rig(bus)
        checks = examine(demands)
    answer(as_message(checks, rig, bus), lambda: show(checks, Screen()), json, good=is_good(checks))


def _load(rig: str) -> LoadedRig:
    from rigloop.compose.wiring import load

    return load(rig)


def _trusted(loaded: LoadedRig, trusts: bool) -> LoadedRig:
    from rigloop.compose.consent import require_consent

    require_consent(loaded, trusts=trusts)
    return loaded


def _finish(outcome: Outcome, console: Console, json: bool) -> NoReturn:
    answer(outcome, lambda: outcome.print(console), json, good=outcome.good)
