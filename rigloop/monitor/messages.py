"""Messages of a page to its server: JSON, each key with its type and its limit; any other message is refused."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from rigloop.protocol.limits import Path, Seconds, Word

MOST_BYTES = 1 << 16
MOST_SIGNALS = 60
MOST_STRIPS = 40
MOST_CAPTURED = 1000
LONGEST_S = 120.0
LONGEST_CAPTURE_S = 600.0
SpanS = Annotated[float, Meta(ge=0.1, le=LONGEST_S)]
Pixels = Annotated[int, Meta(ge=50, le=4000)]
Id = Annotated[int, Meta(ge=0, le=1 << 52)]
Paths = Annotated[list[Path], Meta(max_length=MOST_SIGNALS)]
MomentS = Annotated[float, Meta(ge=0.0, le=1e8)]
CaptureS = Annotated[float, Meta(ge=0.0, le=LONGEST_CAPTURE_S)]
SinceTriggerS = Annotated[float, Meta(ge=-LONGEST_CAPTURE_S, le=LONGEST_CAPTURE_S)]
FileWord = Annotated[str, Meta(max_length=64)]
Scales = Annotated[dict[Path, tuple[float, float]], Meta(max_length=100)]
"""Lower and upper end of a vertical axis, by signal."""


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


class Capture(PageMessage, kw_only=True, frozen=True):
    """Set the scope up: capture every cycle of some signals around a trigger."""

    signals: Annotated[list[Path], Meta(min_length=1, max_length=MOST_CAPTURED)]
    trigger: Annotated[str, Meta(min_length=1, max_length=2000)] = "now"
    pre_s: CaptureS = 0.1
    post_s: CaptureS = 0.5
    mode: Literal["single", "normal", "auto"] = "single"
    auto_after_s: Annotated[float, Meta(ge=0.001, le=LONGEST_CAPTURE_S)] = 1.0
    pixels: Pixels = 1000


class Off(PageMessage, kw_only=True, frozen=True):
    """End the scope; its newest capture stays."""


class Look(PageMessage, kw_only=True, frozen=True):
    """Have the newest capture sent, or the part of it between two moments from its trigger on."""

    from_s: SinceTriggerS | None = None
    to_s: SinceTriggerS | None = None
    pixels: Pixels
    spectra: bool = False
    delay: tuple[Path, Path] | None = None


class Save(PageMessage, kw_only=True, frozen=True):
    """Keep the newest capture in a file."""

    name: FileWord = ""


class Load(PageMessage, kw_only=True, frozen=True):
    """Show a stored capture."""

    name: FileWord


class Compare(PageMessage, kw_only=True, frozen=True):
    """Lay a stored capture beside the newest one; with an empty name none."""

    name: FileWord = ""


class Export(PageMessage, kw_only=True, frozen=True):
    """Write the newest capture in the format of another program."""

    to: Literal["csv", "parquet", "mdf", "mcap", "hdf5", "mat"]
    name: FileWord = ""


class ScopeSetup(Struct, frozen=True, forbid_unknown_fields=True):
    """The scope's settings, as a layout keeps them."""

    signals: Annotated[list[Path], Meta(max_length=MOST_CAPTURED)] = []
    trigger: Annotated[str, Meta(max_length=2000)] = ""
    pre_s: CaptureS = 0.1
    post_s: CaptureS = 0.5
    mode: Literal["single", "normal", "auto"] = "single"
    auto_after_s: Annotated[float, Meta(ge=0.001, le=LONGEST_CAPTURE_S)] = 1.0


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
    scope: ScopeSetup = ScopeSetup()
    scales: Scales = {}
    """Scales of strips that a person has set, by the first signal of each."""
    scope_scales: Scales = {}
    """Scales of the plots of the scope, likewise."""


class Keep(PageMessage, kw_only=True, frozen=True):
    """Keep the layout."""

    layout: Layout


Command: TypeAlias = Take | Give | Start | Arm | Stop | Reset | Write
ScopeMessage: TypeAlias = Capture | Off | Look | Save | Load | Compare | Export
AnyPageMessage: TypeAlias = Follow | Range | Command | Play | Keep | ScopeMessage

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
