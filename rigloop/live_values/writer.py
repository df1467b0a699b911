"""The one writer of a run's live values, in whatever process: it checks a change as a whole, publishes it, keeps it.

The loop takes the whole image at the beginning of its next cycle: what is published at once changes in one cycle.
Nothing here is a net: the cycle holds the limits again, whoever writes.
"""

from __future__ import annotations

import math
import numbers
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Self, TypeAlias

from rig_configs import units
from rig_configs.live import CHANGES, LiveValue, Stimulus, Target, live_path
from rig_configs.mistakes import near
from rig_configs.names import text_problem
from rig_configs.schema import Rig
from rigloop.blocks.checked import read_checked
from rigloop.live_values.journal import Entry, Journal
from rigloop.live_values.refused import LiveMistake, LiveRefusedError, float_of
from rt_core.names import LIVE
from rt_core.plan import loop_signal
from rt_core.signals.layout import run_of
from rt_core.signals.table import SignalTable

Value: TypeAlias = float | tuple[float, str]
"""A number in the unit of the live value, or a number with its unit, which has to be that one."""
LONGEST_AUTHOR = 200  # a name, and that of a key
MOST_CHANGES = 1 << 53  # a float64 counts so far


class LiveWriter:
    """The writer of the producer `live` of a signal table.

    Parameters
    ----------
    table : SignalTable
        Of a run, attached with `writable=True`; whoever made it closes it.
    rig : Rig, optional
        Of the run; read from its folder if not given.
    folder : Path, optional
        Of the run, for the journal; as the table says if not given.

    Raises
    ------
    LiveOwnedError
        Another process writes them.
    LiveRefusedError
        The rig declares no live value and no stimulus.
    OSError
        The journal cannot be written.

    Notes
    -----
    Its methods may be called by several threads. A writer that takes the place of another one goes on with its values.
    """

    def __init__(
        self, table: SignalTable, rig: Rig | None = None, folder: Path | None = None
    ) -> None:
        self._table = table
        folder = Path(run_of(table.layout)) if folder is None else folder
        rig = read_checked(folder / "rig.toml").rig if rig is None else rig
        self._live: Mapping[str, LiveValue] = rig.live
        self._stimuli: Mapping[str, Stimulus] = rig.stimuli
        if not self._live and not self._stimuli:
            raise LiveRefusedError([_none_declared("(rig)")])
        self._tasks = tuple(rig.tasks)
        self._lock = threading.Lock()
        self._journal = Journal(folder)
        self._image = self._as_published()

    @property
    def live(self) -> Mapping[str, LiveValue]:
        """The live values that the rig declares, by name."""
        return self._live

    @property
    def stimuli(self) -> Mapping[str, Stimulus]:
        """The stimuli that the rig declares, by name."""
        return self._stimuli

    @property
    def wanted(self) -> dict[str, float]:
        """The values that were written last, or those of the start; the cycle may be on its way to them."""
        with self._lock:
            return {name: self._image[live_path(name)] for name in self._live}

    @property
    def sequence(self) -> int:
        """Number of the last change, as the signal `live/changes`; 0: none yet."""
        return int(self._image[CHANGES])

    @property
    def lost(self) -> int:
        """Lines of the journal that had no room."""
        return self._journal.lost

    def write(self, values: Mapping[str, Value], author: str, *, in_control: bool = False) -> int:
        """Change live values, all in the same cycle.

        Parameters
        ----------
        values : mapping of name to float or (float, unit)
        author : str
            Goes into the journal; one line.
        in_control : bool
            The author may change what is declared with `who = "control"`.

        Returns
        -------
        int
            Number of the change: a cycle has seen it when its mirror of `live/changes` has reached this.

        Raises
        ------
        LiveRefusedError
            With every mistake; nothing has changed then.
        TableError
            The run is over.
        """
        found = list(self._value_mistakes(values, in_control))
        wanted = {} if found else {name: _number(value) for name, value in values.items()}
        return self._change(Entry(0, 0, author, values=wanted), found)

    def begin(self, stimuli: Collection[str], author: str, *, in_control: bool = False) -> int:
        """Begin stimuli in the next cycle, those that go on from their beginning; or have them wait for `when`.

        Parameters, result and errors as of `write`.
        """
        found = list(self._stimulus_mistakes(stimuli, in_control))
        return self._change(Entry(0, 0, author, begun=tuple(stimuli)), found)

    def end(self, stimuli: Collection[str], author: str, *, in_control: bool = False) -> int:
        """End stimuli in the next cycle; one that has ended stays so. Parameters, result and errors as of `write`."""
        found = list(self._stimulus_mistakes(stimuli, in_control))
        return self._change(Entry(0, 0, author, ended=tuple(stimuli)), found)

    def close(self) -> None:
        """Let another process write; the values stay."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _change(self, entry: Entry, mistakes: list[LiveMistake]) -> int:
        if problem := _author_problem(entry.author):
            remedy = f"give one line of at most {LONGEST_AUTHOR} printable characters"
            mistakes = [*mistakes, LiveMistake("author", entry.author, problem, remedy)]
            entry.author = "(refused)"
        with self._lock:
            entry.cycles = {t: int(self._table.value(loop_signal(t, "cycle"))) for t in self._tasks}
            if mistakes:
                refused = LiveRefusedError(mistakes)
                entry.values, entry.begun, entry.ended = {}, (), ()
                entry.refused = refused.lines
                self._keep(entry)
                raise refused
            image = dict(self._image)
            image |= {live_path(name): value for name, value in entry.values.items()}
            for name in entry.begun:
                image[live_path(name)] = abs(image[live_path(name)]) + 1.0
            for name in entry.ended:
                image[live_path(name)] = -abs(image[live_path(name)])
            image[CHANGES] += 1.0
            self._table.publish(image, LIVE)
            self._image = image
            entry.sequence = int(image[CHANGES])
            self._keep(entry)
            return entry.sequence

    def _keep(self, entry: Entry) -> None:
        entry.monotonic_ns, entry.utc_ns = time.monotonic_ns(), time.time_ns()
        self._journal.add(entry)

    def _as_published(self) -> dict[str, float]:
        """Return what another writer has left, or the start values."""
        number, found = self._table.latest_with_number(LIVE)
        left = dict(zip(self._table.paths(LIVE), map(float, found), strict=True)) if number else {}
        image = {CHANGES: _count(left.get(CHANGES, 0.0))}
        for name, one in self._live.items():
            value = left.get(live_path(name), one.start) if image[CHANGES] else one.start
            image[live_path(name)] = value if one.lower <= value <= one.upper else one.start
        for name in self._stimuli:
            image[live_path(name)] = math.copysign(
                _count(abs(left.get(live_path(name), 0.0))), left.get(live_path(name), 0.0)
            )
        return image

    def _value_mistakes(
        self, values: Mapping[str, Value], in_control: bool
    ) -> Iterator[LiveMistake]:
        if not values:
            yield LiveMistake("values", None, "no value is given", "give {name: value, …}")
        for name, value in values.items():
            if name not in self._live:
                yield _unknown(name, value, self._live, self._stimuli, "live value")
                continue
            one = self._live[name]
            yield from _not_allowed(name, value, one, in_control)
            yield from _wrong(name, value, one)
        yield from self._split_groups(values)

    def _split_groups(self, values: Mapping[str, Value]) -> Iterator[LiveMistake]:
        groups = {one.group for name, one in self._live.items() if name in values}
        for name, one in self._live.items():
            if one.group is not None and one.group in groups and name not in values:
                problem = (
                    f"is missing: it is written together with the others of group {one.group!r}"
                )
                yield LiveMistake(name, None, problem, "give all of them in one write")

    def _stimulus_mistakes(self, names: Collection[str], in_control: bool) -> Iterator[LiveMistake]:
        if not names or isinstance(names, str):
            yield LiveMistake("stimuli", names or None, "no list of names", "give their names")
            return
        for name in names:
            if name not in self._stimuli:
                yield _unknown(name, None, self._stimuli, self._live, "stimulus")
            else:
                yield from _not_allowed(name, None, self._stimuli[name], in_control)


def _author_problem(author: object) -> str | None:
    if author == "":
        return "is empty"
    if isinstance(author, str) and len(author) > LONGEST_AUTHOR:
        return f"is longer than {LONGEST_AUTHOR} characters"
    return text_problem(author)


def _count(value: float) -> float:
    return value if 0.0 <= value < MOST_CHANGES and value == int(value) else 0.0


def _number(value: Value) -> float:
    return float(value[0] if isinstance(value, tuple | list) else value)


def _none_declared(name: str) -> LiveMistake:
    remedy = "declare it in the rig file, as [live.NAME] or [stimuli.NAME]"
    return LiveMistake(name, None, "this rig declares no live value and no stimulus", remedy)


def _unknown(
    name: object,
    value: object,
    known: Collection[str],
    others: Collection[str],
    what: str,
) -> LiveMistake:
    other = "stimulus" if what == "live value" else "live value"
    problem = f"is a {other}" if name in others else f"no {what} of this rig"
    return LiveMistake(f"{name!s:.60}", value, problem, near(str(name)[:60], known))


def _not_allowed(name: str, value: object, one: Target, in_control: bool) -> Iterator[LiveMistake]:
    if one.who == "control" and not in_control:
        problem = 'may be changed only by the client in control (who = "control")'
        yield LiveMistake(name, value, problem, "take control first")


def _wrong(name: str, value: object, one: LiveValue) -> Iterator[LiveMistake]:
    behind = f" {one.unit}" if one.unit != "1" else ""
    limits = f"limits {one.lower:g} to {one.upper:g}{behind}"
    number: object = value
    if isinstance(value, tuple | list):
        if len(value) != 2 or not isinstance(value[1], str):
            yield LiveMistake(
                name, value, "is not a number with its unit", f"give (number, {one.unit!r})"
            )
            return
        number, unit = value
        try:
            good = units.same(unit, one.unit)
        except ValueError:
            good = False
        if not good:
            problem = f"is given in {unit!r:.30}, and it takes {one.unit}"
            yield LiveMistake(name, value, problem, f"convert it; {limits}")
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        yield LiveMistake(name, value, "is not a number", f"give one within the {limits}")
        return
    wanted = float_of(number)
    if not math.isfinite(wanted):
        yield LiveMistake(name, value, "is not a finite number", f"give one within the {limits}")
    elif not one.lower <= wanted <= one.upper:
        is_below = wanted < one.lower
        side = f"below lower = {one.lower:g}" if is_below else f"above upper = {one.upper:g}"
        yield LiveMistake(name, value, f"is {side}{behind}", f"{limits}")
