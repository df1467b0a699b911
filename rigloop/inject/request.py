"""`--inject [WHOM/]FAULT[:VALUE]@T`: from words to what is to be injected, with every mistake told."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rig_configs.mistakes import ConfigError, Mistake, near
from rig_configs.schema import Rig
from rigloop.inject.axis import axes_named
from rigloop.inject.faults import FAULTS
from rigloop.inject.kinds import ON_VETH, Fault, InCycle, Stated
from rigloop.inject.limits import Limits, limits_of, sensor_cells

MOST = 16
_WORDS = re.compile(r"((?P<whom>[^:@]*)/)?(?P<name>[^:@/]*)(:(?P<value>[^@]*))?@(?P<at>.*)")


@dataclass(frozen=True)
class Host:
    """The run that faults are asked for: where the frames of each bus go, if telemetry listens, and how long it is."""

    backends: Mapping[str, str]
    telemetry: bool
    seconds: float | None


@dataclass(frozen=True)
class Injection:
    """One fault at a time after arming; `words` is what was asked for, `value` is in the argument's unit, `lim` are
    the limits of the axis that it strikes. Of a series, `arming` is that in which it strikes, from 1."""

    words: str
    fault: Fault
    value: float
    at_s: float
    lim: Limits
    arming: int = 0

    @property
    def stated(self) -> Stated:
        """The statement of the rig about it."""
        return self.fault.states(self.lim, self.value)


def parse(
    asked: Sequence[str],
    rig: Rig,
    backends: Mapping[str, str],
    telemetry: bool,
    seconds: float | None,
) -> list[Injection]:
    """Return what is to be injected into a rig.

    Raises
    ------
    ConfigError
        With every wrong name, value, time, and what the fault needs and the run does not have.
    """
    mistakes: list[Mistake] = []
    host = Host(backends, telemetry, seconds)
    found = [
        injection
        for words in asked
        if (injection := _parse(words, rig, host, mistakes)) is not None
    ]
    if len(asked) > MOST:
        mistakes.append(_mistake(f"{len(asked)} of them", "too many", f"at most {MOST} a run"))
    if mistakes:
        raise ConfigError(mistakes)
    return found


def stay_s(injections: Sequence[Injection]) -> float:
    """Return for how long a run goes on after its guard has tripped, to see what comes back."""
    return max((injection.fault.lasts_s for injection in injections), default=0.0)


def again(asked: Iterable[str], rig: Rig, *, series: bool = False) -> list[Injection]:
    """Return what was asked for and found right before; of a `series`, each strikes in an arming of its own."""
    found = [i for words in asked if (i := _parse(words, rig, None, [])) is not None]
    return one_an_arming(found) if series else found


def one_an_arming(injections: Iterable[Injection]) -> list[Injection]:
    """Return the injections of a series: the first strikes in the first arming, the second in the second."""
    return [replace(injection, arming=n) for n, injection in enumerate(injections, 1)]


def _mistake(value: str, problem: str, remedy: str) -> Mistake:
    return Mistake("command line", "--inject", problem, remedy, value)


def _parse(words: str, rig: Rig, host: Host | None, mistakes: list[Mistake]) -> Injection | None:
    parts = _WORDS.fullmatch(words)
    if parts is None:
        mistakes.append(
            _mistake(
                words,
                "not FAULT@T, FAULT:VALUE@T or WHOM/FAULT@T",
                "such as `sensor-nan@1.5`; `rigloop faults` lists them",
            )
        )
        return None
    before = len(mistakes)
    fault = FAULTS.get(parts["name"])
    if fault is None:
        mistakes.append(_mistake(words, f"no fault {parts['name']!r}", near(parts["name"], FAULTS)))
    at_s = _at(words, parts["at"], fault, host, mistakes)
    if fault is None:
        return None
    lim = _struck(words, parts["whom"], fault, rig, mistakes)
    if lim is None:
        return None
    value = _value(words, parts["value"], fault, lim, mistakes)
    if host is not None:
        mistakes += _needs(words, fault, lim, host)
    if len(mistakes) > before or at_s is None:
        return None
    return Injection(words, fault, value, at_s, lim)


def _at(
    words: str, given: str, fault: Fault | None, host: Host | None, mistakes: list[Mistake]
) -> float | None:
    at_s, seconds = _number(given), None if host is None else host.seconds
    if at_s is None or not 0 <= at_s <= 86_400:
        mistakes.append(_mistake(words, f"T = {given!r}", "seconds after arming, 0 to 86400"))
    elif seconds is not None and at_s >= seconds:
        mistakes.append(_mistake(words, f"T = {at_s:g} is after the end", f"--for is {seconds:g}"))
    elif fault is not None and seconds is not None and at_s + fault.lasts_s > seconds:
        mistakes.append(
            _mistake(
                words,
                f"it takes {fault.lasts_s:g} s, --for is {seconds:g}",
                f"--for {math.ceil(at_s + fault.lasts_s)}",
            )
        )
    return at_s


def _struck(
    words: str, whom: str | None, fault: Fault, rig: Rig, mistakes: list[Mistake]
) -> Limits | None:
    """Return the limits of the axis that a fault strikes: of the one that is named, else of the first."""
    if whom is None:
        return limits_of(rig)
    names = axes_named(rig, fault.strikes)
    if whom in names:
        return limits_of(rig, names[whom])
    if not fault.strikes:
        problem, remedy = f"{fault.name} strikes a process, and no axis", f"`{fault.name}@T`"
    else:
        problem = f"{fault.name} cannot strike {whom!r}"
        remedy = f"it strikes one of {', '.join(names)}"
    mistakes.append(_mistake(words, problem, remedy))
    return None


def _value(
    words: str, given: str | None, fault: Fault, lim: Limits, mistakes: list[Mistake]
) -> float:
    argument = fault.argument
    if argument is None:
        if given is not None:
            mistakes.append(_mistake(words, f"{fault.name} takes no value", f"`{fault.name}@T`"))
        return 0.0
    if given is None:
        return argument.default(lim)
    value = _number(given)
    if value is None or math.isnan(value) or not argument.least <= value <= argument.most:
        unit = f" {argument.unit}" if argument.unit else ""
        mistakes.append(
            _mistake(words, f"VALUE = {given!r}", f"{argument.least:g} to {argument.most:g}{unit}")
        )
        return 0.0
    return value


def _needs(words: str, fault: Fault, lim: Limits, host: Host) -> Iterable[Mistake]:
    backend = host.backends[lim.bus_name]
    bus = "veth" if fault.needs in ON_VETH else fault.needs
    if bus in ("simulated", "veth") and backend != bus:
        yield _mistake(words, f"not on bus {backend!r}", f"add --bus {bus}")
    elif fault.needs == "line" and lim.bus.second_interface is not None:
        yield _mistake(words, "with a second interface no slave is lost", "take `ring-break`")
    elif fault.needs == "ring" and lim.bus.second_interface is None:
        yield _mistake(
            words, "there is one cable", "give the bus a second_interface, or take `cable-pull`"
        )
    if fault.needs == "rows" and lim.axis.model and not lim.has_rows:
        problem = f"the model {lim.axis.model} has a pose for every guide: nothing diverges"
        yield _mistake(words, problem, "take `model-fault`")
    if fault.needs == "telemetry" and not host.telemetry:
        yield _mistake(words, "there is no telemetry", "add --telemetry tcp://127.0.0.1:PORT")
    if isinstance(fault.acts, InCycle):
        have = sensor_cells(lim)
        for cell in fault.acts.cells:
            if cell not in have:
                yield _mistake(
                    words, f"{lim.axis.guard} has no {cell} to disturb", "take another fault"
                )
        if fault.acts.place in ("guide", "work") and lim.slow == lim.fast:
            yield _mistake(
                words, f"{lim.axis.guard} has no model in a task of its own", "take another fault"
            )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
