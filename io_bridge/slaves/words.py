"""Fault codes in words: AL status codes (ETG.1020), SDO abort codes (CiA 301), CiA 402 states."""

from __future__ import annotations

from collections.abc import Sequence

AL_STATES = {1: "INIT", 2: "PREOP", 3: "BOOT", 4: "SAFEOP", 8: "OP"}

AL_CODES = {
    0x0000: "no error",
    0x0001: "unspecified error",
    0x0002: "no memory",
    0x0003: "invalid device set-up",
    0x0011: "invalid requested state change",
    0x0012: "unknown requested state",
    0x0013: "bootstrap not supported",
    0x0014: "no valid firmware",
    0x0015: "invalid mailbox configuration (bootstrap)",
    0x0016: "invalid mailbox configuration",
    0x0017: "invalid sync manager configuration",
    0x0018: "no valid inputs available",
    0x0019: "no valid outputs",
    0x001A: "synchronisation error",
    0x001B: "process data watchdog: the master fell silent",
    0x001C: "invalid sync manager types",
    0x001D: "invalid output configuration: PDO size and sync manager 2 differ",
    0x001E: "invalid input configuration: PDO size and sync manager 3 differ",
    0x001F: "invalid watchdog configuration",
    0x0020: "slave needs a cold start",
    0x0021: "slave needs INIT",
    0x0022: "slave needs PREOP",
    0x0023: "slave needs SAFEOP",
    0x0024: "invalid input mapping",
    0x0025: "invalid output mapping",
    0x0026: "inconsistent settings",
    0x0027: "free run not supported",
    0x0028: "synchronous mode not supported",
    0x0029: "free run needs three-buffer mode",
    0x002A: "background watchdog",
    0x002B: "no valid inputs and outputs",
    0x002C: "fatal sync error",
    0x002D: "no sync error: SYNC0 does not run",
    0x002E: "cycle time too small",
    0x0030: "invalid DC sync configuration",
    0x0031: "invalid DC latch configuration",
    0x0032: "PLL error",
    0x0033: "DC sync I/O error",
    0x0034: "DC sync timeout",
    0x0035: "invalid DC sync cycle time",
    0x0036: "invalid DC SYNC0 cycle time",
    0x0037: "invalid DC SYNC1 cycle time",
    0x0041: "mailbox error AoE",
    0x0042: "mailbox error EoE",
    0x0043: "mailbox error CoE",
    0x0044: "mailbox error FoE",
    0x0045: "mailbox error SoE",
    0x004F: "mailbox error VoE",
    0x0050: "EEPROM no access",
    0x0051: "EEPROM error",
    0x0060: "slave restarted locally",
    0x0061: "device identification value updated",
    0x00F0: "application controller available",
}

SDO_ABORTS = {
    0x05030000: "toggle bit not alternated",
    0x05040000: "SDO protocol timed out",
    0x05040001: "command specifier not valid or unknown",
    0x05040005: "out of memory",
    0x06010000: "unsupported access to an object",
    0x06010001: "object is write-only",
    0x06010002: "object is read-only",
    0x06010003: "subindex 0 must be zero to write the other subindices",
    0x06010004: "complete access not supported for this object",
    0x06020000: "object does not exist",
    0x06040041: "object cannot be mapped to the PDO",
    0x06040042: "mapped objects exceed the PDO length",
    0x06040043: "parameter incompatibility",
    0x06040047: "internal incompatibility in the device",
    0x06060000: "access failed due to a hardware error",
    0x06070010: "data type or length does not match",
    0x06070012: "data too long",
    0x06070013: "data too short",
    0x06090011: "subindex does not exist",
    0x06090030: "value out of range",
    0x06090031: "value too high",
    0x06090032: "value too low",
    0x06090036: "maximum is less than minimum",
    0x08000000: "general error",
    0x08000020: "data cannot be stored",
    0x08000021: "data cannot be stored: local control",
    0x08000022: "data cannot be stored in the present device state",
    0x08000023: "no object dictionary",
}

DRIVE_ERRORS = {
    0x0000: "no error",
    0x1000: "generic error",
    0x2000: "current",
    0x2100: "current at the supply side",
    0x2200: "current inside the device",
    0x2300: "current at the motor side",
    0x2310: "continuous overcurrent at the motor",
    0x2311: "continuous overcurrent 1 at the motor",
    0x2320: "short circuit or earth leakage at the motor",
    0x2330: "earth leakage at the motor",
    0x2340: "short circuit at the motor",
    0x3000: "voltage",
    0x3100: "mains voltage",
    0x3110: "mains overvoltage",
    0x3120: "mains undervoltage",
    0x3130: "phase failure of the mains",
    0x3200: "voltage of the DC link",
    0x3210: "overvoltage of the DC link",
    0x3220: "undervoltage of the DC link",
    0x3300: "output voltage",
    0x4000: "temperature",
    0x4100: "ambient temperature",
    0x4200: "temperature of the device",
    0x4210: "device too hot",
    0x4220: "device too cold",
    0x4300: "temperature of the drive",
    0x4310: "drive too hot",
    0x4400: "temperature of the supply",
    0x5000: "hardware of the device",
    0x5100: "supply inside the device",
    0x5200: "control hardware",
    0x5300: "operating unit",
    0x5400: "power stage",
    0x5500: "memory of the device",
    0x5530: "non-volatile memory",
    0x6000: "software of the device",
    0x6010: "software reset by its watchdog",
    0x6100: "software inside the device",
    0x6200: "user software",
    0x6300: "data record",
    0x6320: "wrong parameter",
    0x7000: "additional modules",
    0x7100: "power modules",
    0x7110: "brake chopper",
    0x7120: "motor",
    0x7121: "motor blocked",
    0x7122: "motor error or commutation",
    0x7200: "measuring circuit",
    0x7300: "sensor",
    0x7303: "resolver 1",
    0x7305: "incremental encoder 1",
    0x7306: "incremental encoder 2",
    0x7310: "speed",
    0x7320: "position",
    0x7380: "position sensor",
    0x7400: "computing circuit",
    0x7500: "communication inside the device",
    0x7600: "data storage",
    0x8000: "monitoring",
    0x8100: "communication",
    0x8110: "messages lost: overrun",
    0x8120: "error passive",
    0x8130: "heartbeat or node guarding",
    0x8140: "recovered from bus-off",
    0x8180: "EtherCAT communication",
    0x8200: "protocol error",
    0x8210: "PDO not processed: length",
    0x8220: "PDO too long",
    0x8300: "torque control",
    0x8311: "torque too high",
    0x8400: "speed control",
    0x8480: "speed too high",
    0x8500: "position control",
    0x8600: "positioning",
    0x8611: "following error",
    0x8612: "reference limit",
    0x8700: "sync controller",
    0x8800: "winding control",
    0x8900: "process data monitoring",
    0x9000: "external error",
    0xA000: "EtherCAT state machine",
    0xF000: "additional functions",
    0xFF00: "defined by the vendor",
}
"""Object 0x603F and emergencies: CiA 402-2 and, from 0xA000 on, ETG.1000.6."""

DRIVE_STATES = (
    "not ready to switch on",
    "switch on disabled",
    "ready to switch on",
    "switched on",
    "operation enabled",
    "quick stop active",
    "fault reaction active",
    "fault",
    "no CiA 402 state",
)
"""In the order of `io_bridge.slaves.cia402.drive_state`."""


def ring_gap(slaves: Sequence[str], near: int) -> str:
    """Return where a ring is open of which `near` slaves answer on the first interface."""
    ends = ["the first interface", *slaves, "the second interface"]
    near = min(max(near, 0), len(slaves))
    return f"the ring is open between {ends[near]} and {ends[near + 1]}: cable or power"


def al_state(status: int) -> str:
    """Return an AL status in words: ``SAFEOP+ERROR``."""
    name = AL_STATES.get(status & 0x0F, f"no AL state ({status & 0x0F:#x})")
    return name + ("+ERROR" if status & 0x10 else "")


def al_code(code: int) -> str:
    """Return an AL status code in words."""
    return f"{code:#06x} {AL_CODES.get(code, 'vendor-specific or unknown code')}"


def drive_error(code: int) -> str:
    """Return an error code of 0x603F or of an emergency in words; of an unknown one its group."""
    if code >= 0xFF00:
        return f"{code:#06x} defined by the vendor"
    for mask in (0xFFFF, 0xFFF0, 0xFF00, 0xF000):
        group = DRIVE_ERRORS.get(code & mask)
        if group is not None and (code & mask or not code):
            return f"{code:#06x} {group}"
    return f"{code:#06x} unknown error code"


def sdo_abort(code: int) -> str:
    """Return an SDO abort code in words."""
    return f"{code:#010x} {SDO_ABORTS.get(code, 'unknown abort code')}"
