"""Messages of a page to its server: JSON, each key with its type and its limit; any other message is refused."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from rigloop.protocol.limits import Path, Seconds, Word

MOST_BYTES = 1 << 16
MOST_SIGNALS = 60
MOST_STRIPS = 40
LONGEST_S = 120.0
SpanS = Annotated[float, Meta(ge=0.1, le=LONGEST_S)]
Pixels = Annotated[int, Meta(ge=50, le=4000)]
Id = Annotated[int, Meta(ge=0, le=1 << 52)]
Paths = Annotated[list[Path], Meta(max_length=MOST_SIGNALS)]
MomentS = Annotated[float, Meta(ge=0.0, le=1e8)]


class PageMessage(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag=str.lower
):
    """The key `do` names the message."""


class Follow(PageMessage, kw_only=True, frozen=True):
    """Have envelopes of some signals sent from now on, beginning so long ago."""

    id: Id
    signals: Paths
    span_s: SpanS
    pixels: Pixels


class Range(PageMessage, kw_only=True, frozen=True):
    """Have envelopes of some signals between two moments sent once."""

    id: Id
    signals: Paths
    from_s: MomentS
    to_s: MomentS
    pixels: Pixels


class Take(PageMessage, kw_only=True, frozen=True):
    """Take control."""

    over: bool = False


class Give(PageMessage, kw_only=True, frozen=True):
    """Give control back."""


class Start(PageMessage, kw_only=True, frozen=True):
    """Start a run without torque."""

    seconds: Seconds | None = None


class Arm(PageMessage, kw_only=True, frozen=True):
    """Arm."""


class Stop(PageMessage, kw_only=True, frozen=True):
    """Ramp out, end the run."""


class Reset(PageMessage, kw_only=True, frozen=True):
    """Acknowledge a trip."""

    drives: bool = False


class Write(PageMessage, kw_only=True, frozen=True):
    """Change live values, begin or end stimuli."""

    values: Annotated[dict[Word, float], Meta(max_length=100)] = {}
    begin: Annotated[list[Word], Meta(max_length=100)] = []
    end: Annotated[list[Word], Meta(max_length=100)] = []


class Play(PageMessage, kw_only=True, frozen=True):
    """Play a recorded run: how fast, and from which moment on."""

    speed: Annotated[float, Meta(ge=0.0, le=20.0)] = 1.0
    at_s: MomentS | None = None


class Layout(Struct, frozen=True, forbid_unknown_fields=True):
    """The choice of what a page shows; a file beside the rig keeps it."""

    strips: Annotated[
        list[Annotated[list[Path], Meta(min_length=1, max_length=8)]],
        Meta(max_length=MOST_STRIPS),
    ] = []
    span_s: SpanS = 10.0
    theme: Annotated[str, Meta(pattern="^(auto|light|dark)$")] = "auto"
    across: Annotated[str, Meta(max_length=200)] = ""
    """Signal along the horizontal axis of the square plot; empty: the first guard's angle."""
    up: Annotated[str, Meta(max_length=200)] = ""
    """Signal along its vertical axis; empty: the first guard's torque."""
    hidden: Annotated[list[Word], Meta(max_length=20)] = []
    """Panels that are folded."""


class Keep(PageMessage, kw_only=True, frozen=True):
    """Keep the layout."""

    layout: Layout


Command: TypeAlias = Take | Give | Start | Arm | Stop | Reset | Write
AnyPageMessage: TypeAlias = Follow | Range | Command | Play | Keep

_messages = msgspec.json.Decoder(AnyPageMessage)


def read_message(raw: str) -> AnyPageMessage:
    """Return a message.

    Raises
    ------
    ValueError
        It is not a message of this page; the text says why.
    """
    if len(raw) > MOST_BYTES:
        raise ValueError(f"a message of {len(raw)} characters: at most {MOST_BYTES}")
    try:
        return _messages.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
