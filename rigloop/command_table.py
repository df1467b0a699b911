"""The commands of `rigloop`: where each is, and what `rigloop --help` says of it; nothing here imports one."""

from __future__ import annotations

from rigloop.console.command_list import Place, print_list

ABOUT = "Hard real-time multibody simulation for hardware-in-the-loop rigs."
EXIT_CODES = (
    "Exit codes: 0 good, 1 the verdict is bad or a check is red, 2 wrong input, 3 could not start."
)
RIG = "rigloop.rig_commands"
FIELDBUS = "rigloop.fieldbus.commands"
PLACES = {
    "run": Place(
        RIG, "run", "Run a rig live: arm it, show what it does, ramp out, and judge the run.",
        "Example: `rigloop run steering_wheel --for 10`",
    ),
    "serve": Place(
        "rigloop.service.command", "serve",
        "Serve rigs unattended: clients look at them, and one at a time arms and stops. Nothing is armed by itself.",
        "Example: `rigloop serve steering_wheel`",
    ),
    "service": Place(
        "rigloop.service.client_command", "app",
        "Ask a service that `rigloop serve` has started, and control its rigs.",
    ),
    "monitor": Place(
        "rigloop.monitor.command", "monitor",
        "Open one page in a browser: a mechanism that moves, strips of any signals, guard, bus, live values, arm and "
        "stop.",
        "Example: `rigloop monitor steering_wheel`",
    ),
    "keys": Place(
        "rigloop.service.keys_command", "app",
        "Make, list, authorise and revoke the keys of services on TCP and of their clients.",
    ),
    "install-service": Place(
        "rigloop.service.unit", "install_service",
        "Install rigs as a service of systemd: watchdog, rights and limits. It is not armed, however often it starts.",
        "Example: `rigloop install-service steering_wheel --dry-run`",
    ),
    "replay": Place(
        RIG, "replay", "Feed a log, or a recorded run, through the same filter and kernel, without a clock.",
        "Example: `rigloop replay log.csv --rig steering_wheel`",
    ),
    "check": Place(
        RIG, "check",
        "Check a rig file: schema, tasks, wiring, that its observers can tell what they estimate, that its wheel would "
        "not sing, and that every cycle ends in time on this machine. Starts nothing.",
        "Example: `rigloop check my_rig.toml`",
    ),
    "doctor": Place(
        RIG, "doctor",
        "Look at this machine: what keeps a run from being on time, why, and what to do. Changes nothing.",
        "Example: `rigloop doctor steering_wheel`",
    ),
    "commission": Place(
        "rigloop.commission.command", "commission",
        "Walk through a real drive at a twentieth of its torque, one question a step, each measured; and sign the rig "
        "off. On a simulated bus it is a rehearsal.",
        "Example: `rigloop commission my_rig.toml --bus eth1`",
    ),
    "safety": Place(
        "rigloop.safety.command", "safety",
        "Print the hazards of a rig: what detects each, the limits of this file, the reaction time stated and "
        "measured.",
        "Example: `rigloop safety steering_wheel --repeats 5 --out safety_table.md`",
    ),
    "faults": Place(
        "rigloop.inject.commands", "faults",
        "List the faults of `rigloop run --inject`: what each does, how it is found, and within how many cycles.",
        "Example: `rigloop faults steering_wheel`",
    ),
    "report": Place(
        "rigloop.runs.report_command", "report",
        "Write a run's report again; rebuild the verdict of one that was cut short from whatever is left.",
        "Example: `rigloop report runs/20260102-030405-steering_wheel`",
    ),
    "scope": Place(
        "rigloop.scope.command", "scope",
        "Capture every cycle of some signals around a trigger: of a rig that runs, or of a recorded run.",
        "Example: `rigloop scope steering_wheel --trigger 'wheel/angle_rad > 0.1 rising' --pre 0.1 --post 0.5`",
    ),
    "export": Place(
        "rigloop.export.command", "export",
        "Write a run's signals, units, events and facts in the format of another program.",
        "Example: `rigloop export runs/20260102-030405-steering_wheel --to mdf --signals wheel`",
    ),
    "runs": Place(
        "rigloop.runs.commands", "app", "List the runs of a folder; tag them, and remove old ones.",
    ),
    "show": Place(
        "rigloop.runs.commands", "show", "Show one run: verdict, tasks, kernels, events, tags.",
        "Example: `rigloop show runs/20260102-030405-steering_wheel`",
    ),
    "diff": Place(
        "rigloop.runs.commands", "diff",
        "Compare two runs: configuration, kernels, host, timing, and every signal bit for bit.",
        "Example: `rigloop diff runs/20260102-030405-steering_wheel runs/20260102-030501-steering_wheel`",
    ),
    "sweep": Place(
        "rigloop.sweep.command", "sweep",
        "Replay logs or runs with keys of the rig changed, and write one table: parameters, metrics, hashes, faults.",
        "Example: `rigloop sweep logs/*.csv --set blocks.wheel.bandwidth_rad_s=100:400:7 --plot plots`",
    ),
    "signals": Place(
        "rigloop.signals.command", "signals",
        "List every signal of a rig: unit, writer, readers, task. Starts nothing.",
        "Example: `rigloop signals steering_wheel --like torque`",
    ),
    "soak": Place(
        "rigloop.soak.command", "soak", "Run a rig for long, watch what only shows with time, and judge it.",
        "Example: `rigloop soak steering_wheel --for 3600`",
    ),
    "identify": Place(
        "rigloop.identify.command", "identify",
        "Identify inertia and friction from a log, and judge a torque observer on another stretch of it.",
        "Example: `rigloop identify log.csv --fit 4 6 --judge 6 8 --plot torque.png`",
    ),
    "tune": Place(
        "rigloop.tune.command", "tune",
        "Tune an encoder filter: gains, lag of angle, rate and acceleration over frequency, noise of each.",
        "Example: `rigloop tune --counts 131072 --period-us 100 --lag-ms 6.4`",
    ),
    "sim-segment": Place(
        "rigloop.fieldbus.segment_command", "sim_segment",
        "Serve emulated EtherCAT slaves on an interface, such as one end of a veth pair, for any master.",
        "Example: `rigloop sim-segment --interface veth1 ek_coupler direct_drive+late_reply:ms=30`",
        "ListingCommand",
    ),
    "scan": Place(
        FIELDBUS, "scan",
        "List the slaves on a wire: identities, states, clocks, PDOs. Beside a running loop it only looks.",
        "Example: `rigloop scan eth1 --skeleton my_rig.toml`",
    ),
    "sdo": Place(
        FIELDBUS, "sdo",
        "Read or write an object of a slave: through the loop that runs it, or by itself when none does.",
        "Example: `rigloop sdo eth1 0 0x6072:0 500`",
    ),
    "bus": Place(
        FIELDBUS, "bus",
        "Show how each slave does: bad cycles, least working counter, AL state, clock; and the frames of all.",
        "Example: `rigloop bus live`",
    ),
    "bench": Place(
        "rigloop.bench.commands", "app",
        "Run published tests and benchmarks, and compare with the published figures.",
    ),
    "log": Place(
        "rigloop.logs.commands", "app", "Look at logs of encoders, whoever wrote them.",
    ),
    "model": Place(
        "rigloop.model.commands", "app",
        "Look at a mechanism, check it, draw or film it, linearise it, choose its options, import one.",
    ),
}  # fmt: skip


def print_commands() -> None:
    """Print what `rigloop --help` does."""
    options = [("--help", "Show this message and exit.")]
    print_list("Usage: rigloop [OPTIONS] COMMAND [ARGS]...", ABOUT, options, PLACES, EXIT_CODES)
