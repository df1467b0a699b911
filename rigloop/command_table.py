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
        RIG, "run", "Run a rig live: arm it, show its signals, ramp the torque out, and print a verdict.",
        "Example: `rigloop run steering_wheel --for 10`",
    ),
    "serve": Place(
        "rigloop.service.command", "serve",
        "Serve rigs unattended: clients look on, and one of them at a time arms and stops. No rig arms by itself.",
        "Example: `rigloop serve steering_wheel`",
    ),
    "service": Place(
        "rigloop.service.client_command", "app",
        "Ask a service that `rigloop serve` has started, and control its rigs.",
    ),
    "monitor": Place(
        "rigloop.monitor.command", "monitor",
        "Open one page in a browser: the moving mechanism, strips of any signals, guard, bus, live "
        "values, arm and stop.",
        "Example: `rigloop monitor steering_wheel`",
    ),
    "keys": Place(
        "rigloop.service.keys_command", "app",
        "Make, list, authorise and revoke the keys of services on TCP and of their clients.",
    ),
    "install-service": Place(
        "rigloop.service.unit", "install_service",
        "Install rigs as a systemd service with watchdog, rights and limits. The service never arms "
        "when it starts.",
        "Example: `rigloop install-service steering_wheel --dry-run`",
    ),
    "replay": Place(
        RIG, "replay", "Feed a log or a recorded run through the same filter and kernel, without a clock.",
        "Example: `rigloop replay log.csv --rig steering_wheel`",
    ),
    "check": Place(
        RIG, "check",
        "Check a rig file: schema, tasks, wiring, observability of its observers' estimates, margin "
        "of its wheel against singing, and whether every cycle ends in time on this machine. Starts "
        "nothing.",
        "Example: `rigloop check my_rig.toml`",
    ),
    "doctor": Place(
        RIG, "doctor",
        "Examine this machine: list what keeps a run from being on time, why, and the remedy. "
        "Changes nothing.",
        "Example: `rigloop doctor steering_wheel`",
    ),
    "commission": Place(
        "rigloop.commission.command", "commission",
        "Walk through a real drive at a twentieth of its torque, with one measured question per step, and sign the "
        "rig off. On a simulated bus the walk is a rehearsal.",
        "Example: `rigloop commission my_rig.toml --bus eth1`",
    ),
    "safety": Place(
        "rigloop.safety.command", "safety",
        "Print the hazards of a rig: the detector of each, the limits of this file, and the stated "
        "and measured reaction time.",
        "Example: `rigloop safety steering_wheel --repeats 5 --out safety_table.md`",
    ),
    "faults": Place(
        "rigloop.inject.commands", "faults",
        "List the faults of `rigloop run --inject`: the effect of each, how it is detected, and "
        "within how many cycles.",
        "Example: `rigloop faults steering_wheel`",
    ),
    "report": Place(
        "rigloop.runs.report_command", "report",
        "Write a run's report again; for a run that was cut short, rebuild the verdict from the "
        "data that survived.",
        "Example: `rigloop report runs/20260102-030405-steering_wheel`",
    ),
    "scope": Place(
        "rigloop.scope.command", "scope",
        "Capture every cycle of chosen signals around a trigger, in a rig that runs or in a "
        "recorded run.",
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
        "rigloop.soak.command", "soak",
        "Run a rig for a long time, watch for faults that only time reveals, and print a verdict.",
        "Example: `rigloop soak steering_wheel --for 3600`",
    ),
    "identify": Place(
        "rigloop.identify.command", "identify",
        "Identify inertia and friction from a log, and test a torque observer on another part of "
        "the log.",
        "Example: `rigloop identify log.csv --fit 4 6 --judge 6 8 --plot torque.png`",
    ),
    "tune": Place(
        "rigloop.tune.command", "tune",
        "Tune an encoder filter: gains, and the lag over frequency and noise of angle, rate and "
        "acceleration.",
        "Example: `rigloop tune --counts 131072 --period-us 100 --lag-ms 6.4`",
    ),
    "sim-segment": Place(
        "rigloop.fieldbus.segment_command", "sim_segment",
        "Serve emulated EtherCAT slaves to any master on an interface, such as one end of a veth "
        "pair.",
        "Example: `rigloop sim-segment --interface veth1 ek_coupler direct_drive+late_reply:ms=30`",
        "ListingCommand",
    ),
    "scan": Place(
        FIELDBUS, "scan",
        "List the slaves on a wire: identities, states, clocks, PDOs. While a loop runs, it only reads.",
        "Example: `rigloop scan eth1 --skeleton my_rig.toml`",
    ),
    "sdo": Place(
        FIELDBUS, "sdo",
        "Read or write an object of a slave: through the loop that runs the slave, or directly if "
        "no loop runs.",
        "Example: `rigloop sdo eth1 0 0x6072:0 500`",
    ),
    "bus": Place(
        FIELDBUS, "bus",
        "Show the health of each slave: bad cycles, lowest working counter, AL state, clock; and "
        "lost and late frames.",
        "Example: `rigloop bus live`",
    ),
    "bench": Place(
        "rigloop.bench.commands", "app",
        "Run published tests and benchmarks, and compare with the published figures.",
    ),
    "log": Place(
        "rigloop.logs.commands", "app", "Examine encoder logs from any source.",
    ),
    "model": Place(
        "rigloop.model.commands", "app",
        "Show, check, draw, film, linearise or import a mechanism, and choose its options.",
    ),
}  # fmt: skip


def print_commands() -> None:
    """Print what `rigloop --help` does."""
    options = [("--help", "Show this message and exit.")]
    print_list("Usage: rigloop [OPTIONS] COMMAND [ARGS]...", ABOUT, options, PLACES, EXIT_CODES)
