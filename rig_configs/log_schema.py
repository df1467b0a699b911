"""The schema of an encoder log: which columns hold time, angle and torque, in which units."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.mistakes import ConfigError, Mistake, from_validation
from rig_configs.names import LONGEST_NAME, Line
from rig_configs.numbers import Positive, Real
from rig_configs.section import Section
from rt_core.settings import Sign

REMEDY = "is it a mapping file? `rig_configs/logs` has some"


class MappingError(ConfigError):
    """A mapping file is missing or wrong; `mistakes` has every reason."""


class TimeColumn(Section):
    """The clock of the samples; a log without one has rows of a nominal period."""

    column: str = ""
    unit: Literal["s", "ms", "us", "ns", "ticks", "stamp", "rows"]
    """`stamp` is a time of day in words, `rows` is no column at all."""
    ticks_per_s: Positive | None = None
    period_s: Positive | None = None
    """Period of a row, for `unit = "rows"`."""
    counter_bits: Annotated[int, Field(ge=8, le=53)] | None = None
    """Width of a tick counter that wraps; none: it never does."""

    @model_validator(mode="after")
    def _ticks_have_a_rate(self) -> TimeColumn:
        if (self.unit == "ticks") != (self.ticks_per_s is not None):
            raise ValueError('ticks_per_s belongs to unit = "ticks", and only to it')
        if self.counter_bits is not None and self.unit != "ticks":
            raise ValueError('counter_bits belongs to unit = "ticks"')
        if (self.unit == "rows") != (self.period_s is not None):
            raise ValueError('period_s belongs to unit = "rows", and only to it')
        if (self.unit == "rows") == bool(self.column):
            raise ValueError('unit = "rows" has no column, every other one has')
        return self

    @property
    def seconds(self) -> float:
        """Seconds per unit."""
        scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "stamp": 1.0}
        if self.period_s:
            return self.period_s
        return 1.0 / self.ticks_per_s if self.ticks_per_s else scale[self.unit]


class AngleColumn(Section):
    """The encoder. An angle in deg or rad is turned back into the counts it was printed from."""

    column: str
    unit: Literal["deg", "rad", "mrad", "rev", "counts"]
    counts_per_rev: Positive
    counter_span: Annotated[int, Field(ge=0, le=2**53)] = 0
    """Counts after which the counter repeats; 0: never."""
    zero_count: Real = 0.0
    sign: Sign = 1


class TorqueColumn(Section):
    """A measured or commanded torque, for comparison: `scale * (value - offset)` in `unit`."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=LONGEST_NAME)]
    column: str
    unit: Literal["nm", "raw"]
    scale: Real = 1.0
    offset: Real = 0.0


class RowFilter(Section):
    """The rows that carry the angle; the others may carry torque."""

    column: str
    equals: str


class LogMapping(Section):
    """The way to read one kind of log.

    It is chosen when `header` is part of the columns of the file.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$", max_length=LONGEST_NAME)]
    title: Line
    source: Line = ""
    license: Line = ""
    header: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """Delimiter of a text; without it, it is detected."""
    table: str = ""
    """Group, topic or data set of a file that has several."""
    time: TimeColumn
    angle: AngleColumn
    torque: Annotated[tuple[TorqueColumn, ...], Field(strict=False)] = ()
    rows: RowFilter | None = None
    bandwidth_rad_s: Positive | None = None
    """Bandwidth of the encoder filter; without it, as high as the sample period allows."""
    free_s: Annotated[tuple[Real, Real], Field(strict=False)] | None = None
    """Stretch without hands, s from the first sample: there the measured torque alone turns the wheel."""
    free_of: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """SHA-256 of the log that has this stretch: another log of the same header has its own."""
    policy: Annotated[
        dict[str, Literal["drop", "hold", "split", "refuse", "keep"]], Field(max_length=40)
    ] = {}
    """Fault kind → the way to go on at it, where that is not the usual one."""

    @model_validator(mode="after")
    def _torque_names_differ(self) -> LogMapping:
        names = [torque.name for torque in self.torque]
        if len(set(names)) != len(names):
            raise ValueError(f"torque names must differ, found {', '.join(names)}")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, without repetition."""
        rows = (self.rows.column,) if self.rows else ()
        torque = (torque.column for torque in self.torque)
        time = (self.time.column,) if self.time.column else ()
        return tuple(dict.fromkeys((*time, self.angle.column, *torque, *rows)))

    @model_validator(mode="after")
    def _free_stretch_belongs_to_a_log(self) -> LogMapping:
        if (self.free_s is None) != (not self.free_of):
            raise ValueError("free_s and free_of go together: a stretch belongs to one log")
        return self


def load_mapping(path: str | Path) -> LogMapping:
    """Read and check one mapping file.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Returns
    -------
    LogMapping
        Frozen.

    Raises
    ------
    MappingError
        Not there, not TOML, or wrong: every mistake with its key.
    """
    path = Path(path)
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise MappingError([Mistake(str(path), "(file)", str(error), REMEDY)]) from None
    return parse_mapping(text, str(path))


def parse_mapping(text: str, origin: str) -> LogMapping:
    """Like `load_mapping`, from text; `origin` names it in errors."""
    try:
        data = parse_toml(text)
    except UnreadableError as error:
        raise MappingError([Mistake(origin, "(file)", str(error), REMEDY)]) from None
    try:
        return LogMapping.model_validate(data)
    except ValidationError as error:
        raise MappingError(from_validation(origin, error, LogMapping, data)) from None


def shipped_mappings() -> tuple[LogMapping, ...]:
    """The mappings that ship with the package, sorted by name."""
    folder = resources.files("rig_configs") / "logs"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(parse_mapping(f.read_text(encoding="utf-8"), f.name) for f in files)


def matching_mapping(
    columns: Sequence[str], mappings: Sequence[LogMapping] | None = None
) -> LogMapping | None:
    """The mapping with the longest `header` that is part of `columns`; none on a tie."""
    found = [m for m in mappings or shipped_mappings() if set(m.header) <= set(columns)]
    longest = max((len(m.header) for m in found), default=0)
    best = [m for m in found if len(m.header) == longest]
    return best[0] if len(best) == 1 else None
