"""The walk: one step after the other, up to the first that is bad; what was good is kept for the next time."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from rig_configs.mistakes import ConfigError, Mistake
from rigloop.commission.hands import Hands
from rigloop.commission.motion import NoMotionError
from rigloop.commission.progress import Kept, StepResult
from rigloop.commission.stand import Stand, StandError
from rigloop.commission.step import Bench, Measured, Step
from rigloop.commission.talk import NoHandError, Talk
from rigloop.run_folder.clocks import utc_text

UNKNOWN = "It could not be measured, and nothing is known of it yet."
TRY_AGAIN = "See to that first, and try again; a bus that loses frames is one for `rigloop doctor`."
FREE_IT = (
    "See that the wheel is free: its friction must be below the torque of the walk, and no spring, weight or hand may "
    "act on it; and that the drive gives its torque both ways, and adds none of its own."
)


@cache
def find_steps() -> tuple[Step, ...]:
    """Return every step, in the order of the walk."""
    # by its place and not by an import: a step knows the walk's parts, and not the other way round
    package = f"{__package__}.steps"
    folder = importlib.import_module(package).__path__
    names = [module.name for module in pkgutil.iter_modules(folder)]
    found = [importlib.import_module(f"{package}.{name}").STEP for name in names]
    return tuple(sorted(found, key=lambda step: step.place))


@dataclass(frozen=True)
class Walked:
    """The outcome of a walk, or of the part of it that was gone.

    Attributes
    ----------
    results : tuple of StepResult
        Of the steps that stand: kept from before, and measured now.
    missing : tuple of str
        Names of steps without a good result.
    """

    results: tuple[StepResult, ...]
    missing: tuple[str, ...]

    @property
    def good(self) -> bool:
        """True: every step is good."""
        return not self.missing


def walk(
    stand: Stand,
    hands: Hands,
    talk: Talk,
    kept: Kept,
    *,
    first: str | None = None,
    steps: Sequence[Step] | None = None,
    revoke: Callable[[], None] | None = None,
) -> Walked:
    """Go through the steps, from the first that has no good result, up to the first that is bad.

    Parameters
    ----------
    kept : Kept
        Takes each result as soon as it is there.
    first : str, optional
        Begin with this step; those before it must be good already.
    steps : sequence of Step, optional
        In place of all.
    revoke : callable, optional
        Called before the first step is measured: from then on an older signature does not hold.

    Raises
    ------
    ConfigError
        A step before the first one is not good.
    """
    todo = find_steps() if steps is None else tuple(steps)
    names = [step.name for step in todo]
    begin = _begin(names, kept, first)
    bench = Bench(stand, hands)
    if revoke is not None and begin < len(names):
        revoke()
    kept.forget(*names[begin:])
    for number, step in enumerate(todo):
        if number < begin:
            continue
        talk.head(f"{number + 1}/{len(todo)}", step.title)
        talk.tell(step.question)
        if step.commands:
            torque = f"at most {stand.axis.walk_nm:.3g} Nm"
            talk.tell(f"{step.commands} ({torque})", "dim")
        result = measured(step, bench)
        news = stand.news()
        if news and not result.good and result.words.startswith(UNKNOWN):
            # what the bus lost says nothing of the drive, but may have put it into its fault state
            _tell_news(news, talk)
            talk.tell(f"{result.words} Once more:", "dim")
            result, news = measured(step, bench, is_again=True), stand.news()
        _show(result, talk)
        _tell_news(news, talk)
        kept.keep(result)
        if not result.good:
            break
    standing = {result.step: result for result in kept.results}
    missing = tuple(n for n in names if n not in standing or not standing[n].good)
    return Walked(tuple(kept.results), missing)


def _begin(names: Sequence[str], kept: Kept, first: str | None) -> int:
    good = {result.step for result in kept.results if result.good}
    begin = next((i for i, name in enumerate(names) if name not in good), len(names))
    if first is None:
        return begin
    if names.index(first) > begin:
        open_steps = [name for name in names[: names.index(first)] if name not in good]
        problem = f"steps before it are not good yet: {', '.join(open_steps)}"
        remedy = "leave --from away, and the walk begins with the first of them"
        raise ConfigError([Mistake("command line", "--from", problem, remedy, first)])
    return names.index(first)


def measured(step: Step, bench: Bench, *, is_again: bool = False) -> StepResult:
    """Measure one step, with free hands before a torque; a drive that does not follow, or does not move, is bad.

    Parameters
    ----------
    is_again : bool
        The drive is reset before.
    """
    try:
        if is_again:
            bench.stand.reset()
        if step.commands:
            bench.let_go()
        found = step.measure(bench)
    except StandError as error:
        found = _unknown(f"{str(error)[:1].upper()}{str(error)[1:]}", TRY_AGAIN)
    except NoMotionError as error:
        found = _unknown(f"The wheel did not follow: {error}", FREE_IT)
    except NoHandError as error:
        found = _unknown(str(error).capitalize(), "Come to the wheel.")
    sentence = found.sentence or (step.good if found.good else step.bad)
    return StepResult(
        step.name,
        found.good,
        # a file takes plain numbers
        *(_plain(found.value), found.unit, _plain(found.least), _plain(found.most)),
        " ".join(words for words in (sentence, found.words) if words),
        "" if found.good else found.remedy or step.remedy,
        utc_text(),
    )


def _unknown(why: str, remedy: str) -> Measured:
    """Return the outcome of a measurement that there was none: nothing is said of the drive."""
    return Measured(None, "", words=f"{why}.", remedy=remedy, sentence=UNKNOWN)


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _tell_news(news: Sequence[str], talk: Talk) -> None:
    for words in news:
        talk.tell(f"Meanwhile: {words}", "dim")


def _show(result: StepResult, talk: Talk) -> None:
    word, tone = ("good", "green") if result.good else ("BAD", "bold red")
    talk.tell(f"{word}  {result.figure()}".rstrip(), tone)
    talk.tell(result.words)
    if result.remedy:
        talk.tell(f"→ {result.remedy}", "yellow")
