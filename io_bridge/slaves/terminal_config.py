"""Settings of a slave that is not a drive: couplers, digital, analogue and encoder terminals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from io_bridge.slaves.drive_config import SdoWrite, SlaveName, named_twice
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.state_limits import STANDARD, StateLimits
from rig_configs.numbers import Real, Scale
from rig_configs.slaves import (
    MOST_CHANNELS,
    AfterFault,
    Bits,
    FirstBit,
    RxIndex,
    TxIndex,
    WatchdogMs,
)
from rt_core.settings import check


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
    bit: FirstBit
    bits: Bits = 1
    signed: bool = False
    scale: Scale = 1.0
    offset: Real = 0.0

    def __post_init__(self) -> None:
        check(f"channel {self.name!r}", self)


Channels = Annotated[tuple[ChannelConfig, ...], Field(max_length=MOST_CHANNELS)]


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

    name: SlaveName
    inputs: Channels = ()
    outputs: Channels = ()
    identity: Identity | None = None
    watchdog_ms: WatchdogMs = 100.0
    setup: tuple[SdoWrite, ...] = ()
    rx_assign: tuple[RxIndex, ...] = ()
    tx_assign: tuple[TxIndex, ...] = ()
    limits: StateLimits = STANDARD
    after_fault: AfterFault = "hold"

    def __post_init__(self) -> None:
        twice = named_twice(rx_assign=self.rx_assign, tx_assign=self.tx_assign)
        check(f"terminal {self.name!r}", self, twice)


def channel_bytes(channels: tuple[ChannelConfig, ...]) -> int:
    """Return how many bytes the channels reach into."""
    return max((channel.bit + channel.bits + 7 for channel in channels), default=0) // 8
