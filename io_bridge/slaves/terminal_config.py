"""Settings of a slave that is not a drive: couplers, digital, analogue and encoder terminals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from io_bridge.slaves.drive_config import SdoWrite, assign_mistakes
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.state_limits import STANDARD, StateLimits

MOST_CHANNELS = 32
HOLD, RESUME = "hold", "resume"


@dataclass(frozen=True)
class ChannelConfig:
    """Some bits of a terminal's inputs or outputs.

    Attributes
    ----------
    name : str
        Its port is ``<terminal>/<name>``.
    bit : int
        First bit, counted from the start of the terminal's inputs (or outputs).
    bits : int
        1 to 32.
    signed : bool
        Two's complement.
    scale, offset : float
        Value of the port = scale * number + offset.
    """

    name: str
    bit: int
    bits: int = 1
    signed: bool = False
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class TerminalConfig:
    """One slave that is not a drive; without channels a coupler.

    Attributes
    ----------
    name : str
    inputs, outputs : tuple of ChannelConfig
    identity : Identity, optional
        The slave found must report the same identity; None = not checked. Serial 0 = any.
    watchdog_ms : float
        Silence after which its outputs go safe by themselves.
    setup : tuple of SdoWrite
        Written in PREOP, in order, at every bring-up and after every power cycle.
    rx_assign, tx_assign : tuple of int
        Indices of the PDOs to assign; empty: those that it has.
    limits : StateLimits
        How long its states and its mailbox may take.
    after_fault : str
        `hold`: after a fault its outputs stay at zero until they are armed again; `resume`: they come back by
        themselves.
    """

    name: str
    inputs: tuple[ChannelConfig, ...] = ()
    outputs: tuple[ChannelConfig, ...] = ()
    identity: Identity | None = None
    watchdog_ms: float = 100.0
    setup: tuple[SdoWrite, ...] = ()
    rx_assign: tuple[int, ...] = ()
    tx_assign: tuple[int, ...] = ()
    limits: StateLimits = STANDARD
    after_fault: str = HOLD

    def __post_init__(self) -> None:
        bad = assign_mistakes(self.rx_assign, self.tx_assign)
        if not self.name or "/" in self.name:
            bad.append(f"name = {self.name!r}: not empty, no '/'")
        if self.after_fault not in (HOLD, RESUME):
            bad.append(f"after_fault = {self.after_fault!r}: {HOLD!r} or {RESUME!r}")
        for group in (self.inputs, self.outputs):
            if len(group) > MOST_CHANNELS:
                bad.append(f"{len(group)} channels: at most {MOST_CHANNELS} each way")
        for channel in (*self.inputs, *self.outputs):
            if not 0 <= channel.bit < 8192:
                bad.append(f"{channel.name}: bit = {channel.bit}: 0 to 8191")
            if not 1 <= channel.bits <= 32:
                bad.append(f"{channel.name}: bits = {channel.bits}: 1 to 32")
            if not math.isfinite(channel.scale) or channel.scale == 0.0:
                bad.append(f"{channel.name}: scale = {channel.scale}: finite and not 0")
            if not math.isfinite(channel.offset):
                bad.append(f"{channel.name}: offset = {channel.offset}: must be finite")
        if not 0.1 <= self.watchdog_ms <= 6553.5:
            bad.append(f"watchdog_ms = {self.watchdog_ms}: 0.1 to 6553.5; it cannot be off")
        if bad:
            raise ValueError(f"terminal {self.name!r}: " + "; ".join(bad))


def channel_bytes(channels: tuple[ChannelConfig, ...]) -> int:
    """Return how many bytes the channels reach into."""
    return max((channel.bit + channel.bits + 7 for channel in channels), default=0) // 8
