"""Foreign slaves as they are, and what a master of ours makes of each: OP with torque, or one true sentence."""

from dataclasses import dataclass, field

from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.slaves.drive_config import DriveConfig, SdoWrite
from io_bridge.slaves.state_limits import StateLimits
from io_bridge.slaves.terminal_config import TerminalConfig


def drive(**changes):
    return (DriveConfig(**changes),)


def two_axes():
    return DriveConfig(name="left"), DriveConfig(name="right", axis=1, joined=True)


def coupler_and_terminal(**changes):
    return (TerminalConfig("coupler"), TerminalConfig("terminal", **changes))


def setup_of(index, sub, value, size):
    return (SdoWrite(index, sub, value, size),)


@dataclass(frozen=True)
class Case:
    """One ring.

    Attributes
    ----------
    devices : tuple of str
        As `rigloop sim-segment` takes them.
    slaves : callable
        Returns what the rig has of them.
    refusal : str
        A pattern that the refusal has; empty: it comes to OP.
    seconds : float
        Most that the bring-up may take, in the slave's own time.
    findings : str
        What this stands for.
    """

    devices: tuple[str, ...]
    findings: str
    slaves: object = field(default=drive)
    refusal: str = ""
    seconds: float = 15.0

    def make(self):
        return [make_device(name) for name in self.devices]


def of_drive(quirks, findings, **more):
    return Case((f"direct_drive+{quirks}",), findings, **more)


CASES = {
    "plain": Case(("direct_drive",), "-"),
    "no complete access": of_drive("no_complete_access", "2.1"),
    "complete access claimed, aborted": of_drive("no_complete_access:claimed=yes", "2.1"),
    "complete access claimed, mailbox error": of_drive(
        "no_complete_access:claimed=yes,answer=mailbox_error", "2.1"
    ),
    "complete access claimed, one entry": of_drive(
        "no_complete_access:claimed=yes,answer=entry", "2.1"
    ),
    "mailbox after 30 ms": of_drive("late_reply:ms=30", "2.13"),
    "mailbox after 200 ms": of_drive("late_reply:ms=200", "2.13"),
    "mailbox later than the rig allows": of_drive(
        "late_reply:ms=400",
        "2.13",
        slaves=lambda: drive(limits=StateLimits(mailbox_response_s=0.2)),
        refusal="slave 0 .drive.: no answer in its mailbox within 0.2 s: .*limits = . mailbox_response_s",
    ),
    "emergency before each reply": of_drive("emergency", "2.3 2.11"),
    "emergency in PREOP": of_drive("emergency:at=preop", "2.11"),
    "emergency in SAFEOP": of_drive("emergency:at=safeop", "2.11"),
    "emergency in OP": of_drive("emergency:at=op", "2.11"),
    "duplicate replies": of_drive("duplicate_reply", "2.3"),
    "stale replies": of_drive("stale_reply", "2.3"),
    "wrong index, then the right one": of_drive("wrong_reply:field=index", "2.3"),
    "wrong subindex, then the right one": of_drive("wrong_reply:field=subindex", "2.3"),
    "wrong service, then the right one": of_drive("wrong_reply:field=service", "2.3"),
    "wrong command, then the right one": of_drive("wrong_reply:field=command", "2.3"),
    "wrong index always": of_drive(
        "wrong_reply:field=index,then_right=no", "2.3", refusal="drive|slave"
    ),
    "an endless object that nobody needs": of_drive("endless_object:index=0x1008", "2.9"),
    "an endless object that is needed": of_drive(
        "endless_object:index=0x1C12", "2.9", refusal="0x1c12|outputs"
    ),
    "an empty object that nobody needs": of_drive("empty_object:index=0x1008", "2.9"),
    "fixed mapping, the rig wants no more": of_drive("fixed_mapping", "2.16"),
    "fixed mapping, the rig wants more": of_drive(
        "fixed_mapping",
        "2.16",
        slaves=lambda: drive(
            tx_pdo=((0x6041, 0, 16), (0x6064, 0, 32), (0x2077, 0, 32), (0x606C, 0, 32))
        ),
        refusal="0x2077",
    ),
    "fixed PDOs, padding, two in a sync manager": Case(("fixed_pdo_drive",), "2.6 2.16"),
    "outputs of a drive in two sync managers": Case(("fixed_pdo_drive+second_manager",), "2.6"),
    "outputs of a terminal in two sync managers": Case(
        ("ek_coupler", "two_manager_terminal"), "2.6", slaves=coupler_and_terminal
    ),
    "two axes": Case(("two_axis_drive",), "2.6 2.16", slaves=two_axes),
    "one of two axes": Case(("two_axis_drive",), "2.16"),
    "latched watchdog": of_drive("latched_watchdog", "2.10"),
    "a watchdog of 50 ms at most": of_drive(
        "watchdog_limit:ms=50", "2.10", slaves=lambda: drive(watchdog_ms=49.0)
    ),
    "a watchdog above the slave's limit": of_drive(
        "watchdog_limit:ms=50",
        "2.10",
        slaves=lambda: drive(watchdog_ms=80.0),
        refusal="0x001f.*rig asks for watchdog_ms = 80 of ",
    ),
    "SAFEOP after 1 s": of_drive("slow_transition", "2.13"),
    "PREOP after 2 s, SAFEOP after 3 s": of_drive("slow_transition:preop_s=2,safeop_s=3", "2.13"),
    "SAFEOP after 8 s, OP after 4 s": of_drive(
        "slow_transition:safeop_s=8,op_s=4", "2.13 2.14", seconds=20.0
    ),
    "SAFEOP refused once": of_drive("refused_transition:to=safeop", "2.12"),
    "PREOP refused once": of_drive("refused_transition:to=preop,code=0x0016", "2.12"),
    "OP refused once": of_drive("refused_transition:to=op,code=0x001B", "2.12"),
    "PREOP refused always": of_drive(
        "refused_transition:to=preop,code=0x0016,times=0",
        "2.12",
        refusal="PREOP asked.*0x0016",
    ),
    "busy at the first download": of_drive("busy_object", "2.12"),
    "EEPROM busy for 50 ms": of_drive("busy_eeprom:ms=5", "2.13", seconds=60.0),
    "EEPROM with mandatory categories": of_drive("eeprom_mandatory", "2.16"),
    "EEPROM with its head alone": of_drive("eeprom_mandatory:categories=no", "2.16"),
    "EEPROM all 0xFF": of_drive("eeprom_blank", "2.9", refusal="EEPROM"),
    "EEPROM all zero": of_drive("eeprom_blank:byte=0", "2.9", refusal="EEPROM|identity|vendor"),
    "sync managers off in the EEPROM": of_drive("eeprom_managers_off", "2.16"),
    "mailbox of 4 bytes": of_drive("eeprom_mailbox:bytes=4", "2.9", refusal="mailbox|0x0016"),
    "a drive that needs setup": of_drive(
        "needs_setup:index=0x6072,value=1500",
        "2.6",
        slaves=lambda: drive(setup=setup_of(0x6072, 0, 1500, 2)),
    ),
    "a terminal that needs setup": Case(
        ("ek_coupler", "setup_terminal"),
        "2.6",
        slaves=lambda: coupler_and_terminal(setup=setup_of(0x8000, 2, 1, 1)),
    ),
    "a terminal that needs setup and gets none": Case(
        ("ek_coupler", "setup_terminal"),
        "2.6",
        slaves=coupler_and_terminal,
        refusal="terminal.*0x0003|0x0003",
    ),
    "a mode that is shown only in operation": of_drive(
        "mode_shown",
        "15",
        refusal=r"drive: in OP it shows mode 0 .no mode. in 0x6061, the rig has 10 .*, leave 0x6061 out",
    ),
    "such a mode, left out of the inputs": of_drive(
        "mode_shown",
        "15",
        slaves=lambda: drive(mapping="explicit", tx_pdo=((0x6041, 0, 16), (0x6064, 0, 32))),
    ),
    "another mode": of_drive(
        "mode_shown:value=1,until=never",
        "15",
        refusal="drive: in OP it shows mode 1 .profile position. in 0x6061, the rig has 10 .*`setup`",
    ),
    "much at once": of_drive(
        "no_complete_access:claimed=yes+busy_object+emergency+duplicate_reply+late_reply:ms=20"
        "+slow_transition+refused_transition:to=safeop+latched_watchdog",
        "2.1 2.3 2.10-2.13",
    ),
}
"""By what they stand for; EEPROM times are shortened, since a whole EEPROM has hundreds of words."""
