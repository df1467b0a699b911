"""The supervisor of a live run: starts the cycle process and the recorder, arms, shows, stops, judges."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.markup import escape

from io_bridge.attendant.dead_sockets import clear_dead_sockets
from io_bridge.recording.record import RecordError
from rig_configs.load import LoadedRig
from rig_configs.named_files import keep_named
from rig_configs.plain import line
from rigloop.compose.blocks import backends_of
from rigloop.compose.kernels import build_kernels
from rigloop.console import interrupts
from rigloop.host.children import commission, onlooker
from rigloop.host.disk_reserve import reserve
from rigloop.host.interface import check_backends
from rigloop.host.missing_checks import refuse_if_red, with_rights
from rigloop.host.reservations import needs_of, refuse_claimed
from rigloop.judge.verdict import conclude
from rigloop.live.arming import state_of
from rigloop.live.bring_down import HEARTBEAT_S, beat_until_ended, end, kill
from rigloop.live.bringing_up import News
from rigloop.live.kept_manifest import KeptManifest
from rigloop.live.lookout import Lookout
from rigloop.live.run_options import RunOptions
from rigloop.live.series import rearming_for
from rigloop.live.snapshot import Moment, take_picture
from rigloop.live.start_checks import check_telemetry, check_wheel
from rigloop.live.stay_after_trip import StayAfterTrip
from rigloop.live.view import LiveView
from rigloop.run_folder import messages
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.last_state import find_final, save_rings
from rigloop.run_folder.messages import Mode
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.run_folder.process_state import Process, began_ns
from rigloop.run_folder.run_end import Ended, Final, Supervision, newest, read_final
from rigloop.run_folder.tables import clear_orphans, held, table_path
from rigloop.sign_off.limit import limited_by_files, refuse_unlimited
from rt_core.doctor.check import Check, Level, banner
from rt_core.safety.trips import State
from rt_core.signals.layout import CutError, TableError
from rt_core.signals.lifeline import Lifeline
from rt_core.signals.table import SignalTable

if TYPE_CHECKING:
    from rigloop.inject.request import Injection

WAIT_BEATS = 25  # while the guard waits, half a second between pictures
RESET_BEAT = 10
MOST_RECORDERS = 3  # after the first one; the rings bridge two seconds without any
START_TIMEOUT_S = 30.0
READY_TIMEOUT_S = 15.0
CUT_S = 1.5  # within which a loop whose table was cut short has ramped out
NICE = -10


def run_live(
    loaded: LoadedRig,
    cycle: subprocess.Popen[str],
    options: RunOptions,
) -> Outcome:
    """Run a rig until its time is over, Ctrl-C, or a fault; return the verdict.

    Raises
    ------
    ConfigError
        The endpoint of telemetry, or a fault to inject, is not right.
    NotStartedError
        A process or the bus did not start, or the run is strict and something is red; the torque
        never left zero.
    """
    interrupts.say("before anything was armed")
    console, inject = options.console, options.inject
    if options.telemetry is not None:
        check_telemetry(options.telemetry)
    backends = backends_of(loaded.rig, options.bus)
    refuse_claimed(needs_of(loaded.rig, backends), but=os.getppid())
    refuse_unlimited(loaded.rig, backends)
    injections: Sequence[Injection] = ()
    commissioned = messages.Order(
        loaded.name,
        table_path(),
        options.bus,
        options.mode,
        tuple(inject),
        reset_drives=options.reset_drives,
        argument=line((loaded.origin or loaded).argument),
    )
    if inject:
        from rigloop.inject.request import parse, stay_s

        listens = options.telemetry is not None
        injections = parse(inject, loaded.rig, backends, listens, options.seconds)
        commissioned.stay_s = stay_s(injections)
    if options.mode is Mode.STRICT:
        from rigloop.doctor.checks import demands_of, examine

        refuse_if_red(examine(demands_of(loaded.rig, options.bus)))
    with console.status("kernel") as status:
        kernels = build_kernels(
            loaded, lambda name, stage: status.update(f"kernel {name}: {stage}")
        )
        notes = check_wheel(loaded, backends, lambda stage: status.update(f"haptic loop: {stage}"))
    for note in notes:
        console.print(note, highlight=False, markup=False)
    for name, kernel in kernels.items():
        origin = "from the cache" if kernel.from_cache else f"built in {kernel.seconds:.1f} s"
        words = f"kernel {name} {kernel.hash[:12]} {origin}"
        console.print(words, highlight=False, markup=False)
    hashes = {name: kernel.hash for name, kernel in kernels.items()}
    check_backends(backends.values())
    clear_orphans()
    clear_dead_sockets()
    # from here on the run is completed, whatever comes: ramp, record, verdict, report
    with interrupts.collected() as interrupted:
        folder, kept = _new_run(loaded, hashes, options, cycle, commissioned, backends)
        try:
            commission(cycle, folder)
            # imported and looked at only now, while the loop starts: nothing of it delays the first cycle
            from rigloop.doctor.checks import QUICK, SLOW, demands_of, examine

            demands = demands_of(loaded.rig, options.bus)
            with ThreadPoolExecutor(max_workers=1) as beside:
                slow = beside.submit(examine, demands, SLOW)
                quick = examine(demands, QUICK)
                run = LiveRun(loaded, folder, commissioned.table, cycle, options)
                ended = watch(run, quick, injections, interrupted, kept)
                checks = [*quick, *slow.result()]
        except NotStartedError as error:
            kept.not_started(str(error))
            raise
        kept.settle()
        before = msgspec.structs.replace(kept.manifest, checks=tuple(checks))
        return conclude(folder, loaded, ended, before, injections)


@dataclass(frozen=True)
class LiveRun:
    """A run whose cycle process has its order.

    Attributes
    ----------
    loaded : LoadedRig
    folder : Path
    table : str
        Of its signals.
    cycle : Popen
    options : RunOptions
    """

    loaded: LoadedRig
    folder: Path
    table: str
    cycle: subprocess.Popen[str]
    options: RunOptions


def watch(
    run: LiveRun,
    checks: list[Check],
    injections: Sequence[Injection] = (),
    interrupted: Sequence[int] | None = None,
    kept: KeptManifest | None = None,
) -> Ended:
    """Supervise a commissioned cycle process to its end, with those that look on."""
    loaded, folder, table, cycle = run.loaded, run.folder, run.table, run.cycle
    with contextlib.ExitStack() as first:
        if interrupted is None:
            interrupted = first.enter_context(interrupts.collected())
        whom = (folder, cycle.pid, table)
        record = partial(onlooker, "io_bridge.recording.recorder", *whom, str(folder))
        # there before the first cycle: on a busy machine a process takes longer to start than the rings hold
        recorder = first.enter_context(record("--wait"))
        shared = first.enter_context(_attach(run, interrupted))
        first.enter_context(held(table))
        with contextlib.suppress(OSError):  # a kernel without it tells the loop by a signal, later
            first.enter_context(Lifeline(shared))
        if run.options.orders is not None:
            first.enter_context(run.options.orders.serving(shared, loaded.rig, folder))
        first.callback(lambda: Path(table).unlink(missing_ok=True))
        with contextlib.ExitStack() as onlookers:
            children = {"recorder": recorder}
            report = messages.read_report(folder)
            if (endpoint := run.options.telemetry) is not None:
                children["telemetry"] = onlookers.enter_context(
                    onlooker("io_bridge.recording.telemetry", *whom, endpoint)
                )
            # on veth the child is only what holds its namespace
            loop = Process.of(cycle.pid if report is None else report.pid)
            processes = {
                "supervisor": os.getpid(),
                "cycle": loop.pid,
                **{role: child.pid for role, child in children.items()},
            }
            if kept is not None:
                kept.know(processes, report, checks)
            tell = None
            if injections:
                from rigloop.inject.outside import agent

                tell = onlookers.enter_context(agent(folder, injections))
            seen = Supervision(process_began_ns=began_ns(os.getpid()))
            with (
                Lookout(shared, loaded.rig, folder, loop.pid, children) as lookout,
                _damage_seen(seen, loop),
            ):
                acts = Acts(
                    lambda: tell(processes) if tell is not None else None,
                    lambda: onlookers.enter_context(record("--resume")),
                    kept,
                )
                _supervise(run, Scene(seen, shared, lookout, loop, interrupted), checks, acts)
            code = end(cycle)
            if code is None:
                seen.alarms.append(
                    "the cycle process was killed and has not ended: a thread of its gets no core; another one of its "
                    "priority or more keeps that core"
                )
            end(children["recorder"], wake=True)
            if folder.is_dir():
                # of one that was killed at the very end; what cannot be saved, rows against cycles tell
                with contextlib.suppress(OSError, RecordError, TableError):
                    save_rings(folder, shared, loaded.rig.tasks)
        return Ended(seen, _final(shared, folder, loaded), code, report, run.options.page)


@contextlib.contextmanager
def _damage_seen(seen: Supervision, loop: Process) -> Iterator[None]:
    """Keep as an alarm that the table cannot be read any more, and end the loop: nobody can watch it."""
    try:
        yield
    except CutError as error:
        seen.alarms.append(
            f"another program truncated the signal table, and the loop was ended: {error}"
        )
        # it ramps out by itself: it sees the same, or misses its heartbeat
        until = time.monotonic() + CUT_S
        while loop.lives and time.monotonic() < until:
            time.sleep(HEARTBEAT_S)
        kill(loop)
    except TableError as error:
        seen.alarms.append(
            f"another program overwrote the signal table, and the loop was ended (SIGKILL): {error}"
        )
        kill(loop)


def _final(shared: SignalTable, folder: Path, loaded: LoadedRig) -> Final:
    """Return the table's last word; of one that is damaged, what the records say."""
    try:
        return read_final(shared, loaded.rig.tasks)
    except (TableError, ValueError, LookupError):
        final, _ = find_final(folder, (), loaded.rig.tasks)
        return replace(final, signals=defaultdict(float, final.signals))


def _new_run(
    loaded: LoadedRig,
    kernels: dict[str, str],
    options: RunOptions,
    cycle: subprocess.Popen[str],
    commissioned: messages.Order,
    backends: Mapping[str, str],
) -> tuple[Path, KeptManifest]:
    """Make the folder of a run, with all that is known of it before it starts; or no folder at all.

    The signature of the rig is held against the copies, which the cycle process reads.
    """
    folder = new_run_folder(options.runs, loaded.name)
    try:
        reserve(folder)
        (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
        copies = keep_named(folder, loaded.files)
        commissioned.limited, commissioned.signed = limited_by_files(loaded, backends, copies)
        messages.write(folder, "order.json", commissioned)
        processes = {"supervisor": os.getpid(), "cycle": cycle.pid}
        kept = KeptManifest(folder, loaded, kernels, commissioned, options.seconds, processes)
        if kept.trouble:
            raise NotStartedError(f"{folder}: {kept.trouble}")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NotStartedError(
            f"{folder}: cannot be written: {error.strerror}; give --runs"
        ) from None
    except NotStartedError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder, kept


def _attach(run: LiveRun, interrupted: Sequence[int]) -> SignalTable:
    """Wait for the cycle process to make the table; slaves that take their time are shown."""
    folder, cycle, console = run.folder, run.cycle, run.options.console
    until = time.monotonic() + START_TIMEOUT_S
    news = News(folder)
    while time.monotonic() < until:
        if interrupted:
            raise NotStartedError("interrupted before the loop had started")
        if said := news.read():
            console.print(f"[dim]{escape(said)}[/]", highlight=False, soft_wrap=True)
            until = time.monotonic() + START_TIMEOUT_S
        try:
            return SignalTable.attach(run.table, writable=True)
        except FileNotFoundError:
            pass
        except (OSError, TableError) as error:
            raise NotStartedError(str(error)) from None
        if cycle.poll() is not None:
            raise NotStartedError(_why_it_ended(folder))
        time.sleep(0.005)
    raise NotStartedError(
        f"the cycle process made no signal table within {START_TIMEOUT_S:.0f} s: {folder}/cycle.log"
    )


def _why_it_ended(folder: Path) -> str:
    report = messages.read_report(folder)
    if report is not None and report.error:
        return report.error
    log = folder / "cycle.log"
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return f"the cycle process ended: {lines[-1] if lines else 'no message'}; see {log}"


@dataclass(frozen=True)
class Scene:
    """The objects that a supervisor looks at, and its notes; `interrupted` gets the signals that ask it to end."""

    seen: Supervision
    shared: SignalTable
    lookout: Lookout
    loop: Process
    interrupted: Sequence[int]


@dataclass(frozen=True)
class Acts:
    """The acts of a supervisor beside its heartbeat: at arming, for a recorder that has died, and on the manifest."""

    at_arming: Callable[[], None]
    record_on: Callable[[], subprocess.Popen[str]]
    kept: KeptManifest | None


def _may_arm(options: RunOptions) -> bool:
    return not options.hold or (options.orders is not None and options.orders.may_arm)


def _supervise(run: LiveRun, scene: Scene, checks: list[Check], acts: Acts) -> None:
    """Enable, arm once the guard is ready, watch until the end, and ask for the ramp-out."""
    loaded, folder, console = run.loaded, run.folder, run.options.console
    seen, shared, lookout = scene.seen, scene.shared, scene.lookout
    rearming = rearming_for(loaded.rig, folder, lambda: newest(shared))
    report = messages.read_report(folder)
    real_time = report is not None and report.real_time
    checks = with_rights(checks, report.rights if report is not None else ())
    degraded = banner(checks)
    n_red = sum(check.level is Level.RED for check in checks)
    if degraded:
        words = f"{degraded}; `rigloop doctor {loaded.argument}` says what to do"
        console.print(f"[bold yellow]{escape(words)}[/]", highlight=False, soft_wrap=True)
    limited = report.limited if report is not None else None
    if limited is not None:
        words = escape(limited.line())
        console.print(f"[bold yellow]{words}[/]", highlight=False, soft_wrap=True)
        degraded = "; ".join(words for words in (limited.brief(), degraded) if words)
    lookout.look_around(fifo=real_time)
    for words in lookout.notes.values():
        console.print(f"[bold yellow]{escape(words)}[/]", highlight=False, soft_wrap=True)
    asked_at: float | None = None  # since when it may arm
    armed_at: float | None = None
    running_at: float | None = None
    beat = resumed = 0
    commissioned = messages.read_order(folder)
    ending, resets = StayAfterTrip(commissioned.stay_s), commissioned.reset_drives

    with _ahead_of_others(), LiveView(console, loaded.rig.title) as view:
        while run.cycle.poll() is None:
            now = time.monotonic()
            beat += 1
            state = state_of(shared, loaded.rig)
            rearming.look(state, now)
            if asked_at is None and _may_arm(run.options):
                asked_at = now
            ready = state == State.READY and beat > 1 and _is_recorded(folder, loaded)
            if ready and armed_at is None and asked_at is not None:
                armed_at = now
                lookout.armed_at = now
                if acts.kept is not None:
                    acts.kept.runs(tuple(lookout.notes.values()))
            if state == State.RUNNING and running_at is None:
                running_at = now
            if running_at is not None:
                seen.armed_s = now - running_at
            asked_s = math.inf if run.options.seconds is None else run.options.seconds
            over = running_at is not None and seen.armed_s >= asked_s
            waited_s = 0.0 if asked_at is None else now - asked_at
            never = running_at is None and waited_s > READY_TIMEOUT_S
            seen.interrupted = bool(scene.interrupted)
            stayed = ending.over(state == State.FAULT and not rearming.waits)
            stop = over or never or seen.interrupted or stayed or rearming.over
            if stop:
                rearming.ended()  # before the cycle hears of it: then every axis lets go, and none goes on any more
            shared.publish(
                {
                    "supervisor/heartbeat": beat,
                    "supervisor/enable": float(asked_at is not None and rearming.enable),
                    # one edge before anything is armed, only for a person who asked for it; or as the rig file rearms
                    "supervisor/reset": float(
                        (resets and armed_at is None and beat > RESET_BEAT) or rearming.reset
                    ),
                    "supervisor/arm": float(armed_at is not None and rearming.arm),
                    "supervisor/stop": float(stop),
                    "supervisor/degraded": float(n_red),
                }
            )
            if armed_at == now:
                acts.at_arming()
            if stop:
                break
            lookout.look()
            if lookout.lost_recorder and resumed < MOST_RECORDERS:
                resumed += 1
                lookout.children["recorder"] = acts.record_on()
            if lookout.gives_up():
                kill(scene.loop)
                break
            if view.is_due and (state != State.INIT or beat % WAIT_BEATS == 0):
                moment = Moment(
                    state,
                    seen.armed_s,
                    run.options.seconds,
                    real_time and not lookout.demoted,
                    degraded,
                    tuple(lookout.now.values()),
                    lookout.frozen_s,
                )
                view.show(take_picture(shared, loaded.rig, moment))
            time.sleep(HEARTBEAT_S)
        rearming.ended()
        beat_until_ended(shared, run.cycle, scene.loop, lookout, beat)
    seen.alarms = list(lookout.alarms.values())
    seen.notes = list(lookout.notes.values())
    seen.trips, seen.not_rearmed = list(rearming.trips), rearming.gave_up
    seen.demoted = lookout.demoted


@contextlib.contextmanager
def _ahead_of_others() -> Iterator[None]:
    """Run before ordinary processes, where that is allowed: on a busy machine a late heartbeat looks like none."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(before, NICE))
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def _is_recorded(folder: Path, loaded: LoadedRig) -> bool:
    # the recorder has attached once it has made its files; a run that ended before would leave no record
    return all((folder / f"{task}.npy").exists() for task in loaded.rig.tasks)
