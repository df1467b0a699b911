"""Change the parts that decide whether torque leaves, one place at a time, and see whether a test notices.

    python tests/mutation/run.py --target guard --sample 60

One build of the module holds every change (`weave.py`) and stands in for the installed one in every process of
the tests that answer for it; what such a build cannot hold is compiled by itself. A change that no test notices
is a survivor: it is printed with its line, and either a test is missing, or the change makes no difference; the
latter are in explained.toml with the reason.
Without --sample all changes are tried, about a second each; a sample is drawn by --seed, the same each time, and
tried in an order of its own: what --minutes leaves of it is a smaller sample.
The whole can be done in parts, and survivors tried once more: --resume keeps in its file what became of each
change, and tries those that are not killed yet.

    python tests/mutation/run.py --target guard --minutes 8 --resume guard.json
The exit code is 1 when a survivor is not explained.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

from rigloop.display.tables import Table, figures, show, words

sys.path.insert(0, str(Path(__file__).parent))

from builds import ROOT, BuildError, build
from kinds import find_mutations
from places import Mutation, apply_mutation, name_mutations
from targets import TARGETS, Target, missing
from warm import WarmTests
from weave import VARIABLE, weave, wrong_lines

EXPLAINED = Path(__file__).with_name("explained.toml")
TIMES_LONGER = 5.0  # a test that takes this much longer than without a change hangs


class Trial(NamedTuple):
    """One change and what became of it: killed, survived, explained, or invalid (it does not compile)."""

    target: str
    mutation: Mutation
    line: str
    outcome: str
    key: str
    why: str = ""


def main() -> int:
    options = _options()
    console = Console(stderr=True)
    chosen = options.target or list(TARGETS)
    gone = missing(chosen)
    if gone:
        console.print("targets.py names files that do not exist: " + ", ".join(gone), markup=False)
        return 2
    trials: list[Trial] = []
    for name in chosen:
        trials += _try_target(name, options, console)
        if options.resume:
            _keep(options.resume, trials)
    survivors = [t for t in trials if t.outcome == "survived"]
    if options.json:
        options.json.write_text(json.dumps([_as_dict(t) for t in trials], indent=1))
    show(_table(trials), Console())
    for trial in survivors:
        place = f"{TARGETS[trial.target].source}:{trial.mutation.line}"
        change = f"{trial.mutation.old!r} -> {trial.mutation.new!r}"
        print(f"{place}: {trial.mutation.kind} {change} in: {trial.line.strip()}")
    return 1 if survivors else 0


def _try_target(name: str, options: argparse.Namespace, console: Console) -> list[Trial]:
    target = TARGETS[name]
    text = (ROOT / target.source).read_text(encoding="utf-8")
    mutations = find_mutations(target.source, text)
    if options.only:
        mutations = [m for m in mutations if m.line in options.only]
    if options.sample and options.sample < len(mutations):
        mutations = random.Random(options.seed).sample(mutations, options.sample)
    with tempfile.TemporaryDirectory() as folder:
        return _try_mutations(name, text, mutations, options, console, Path(folder))


def _try_mutations(
    name: str,
    text: str,
    mutations: list[Mutation],
    options: argparse.Namespace,
    console: Console,
    folder: Path,
) -> list[Trial]:
    target = TARGETS[name]
    lines = text.splitlines()
    keys = name_mutations(text, find_mutations(target.source, text))
    earlier = {key: t["outcome"] for (of, key), t in _earlier(options.resume).items() if of == name}
    woven, environment = _build_all(target, text, mutations, folder)
    begin = time.monotonic()
    outcome, said = _outcome(target, environment, 900.0)
    if outcome != "survived":
        console.print(f"{name}: its tests fail without any change:\n{said}", markup=False)
        raise SystemExit(2)
    limit_s = TIMES_LONGER * (time.monotonic() - begin) + 20.0
    known = _explained(target.source)

    def tried(mutation: Mutation) -> str:
        number = woven.get(mutation)
        if number is None:
            return _outcome_alone(target, apply_mutation(text, mutation), limit_s)
        tests = warm.get()
        try:
            return tests.outcome({VARIABLE: str(number)}, limit_s)[0]
        finally:
            warm.put(tests)

    def attempt(mutation: Mutation) -> Trial | None:
        line, key = lines[mutation.line - 1], keys[mutation]
        why = known.get((line.strip(), mutation.old, mutation.new), "")
        if why:
            return Trial(name, mutation, line, "explained", key, why)
        outcome = str(earlier.get(key, ""))
        late = time.monotonic() - begin > 60.0 * options.minutes
        if late and not outcome:
            return None
        if not late and outcome not in ("killed", "invalid"):
            outcome = tried(mutation)
        return Trial(name, mutation, line, outcome, key)

    # what was never tried comes first
    mutations.sort(key=lambda mutation: keys[mutation] in earlier)
    warm: SimpleQueue[WarmTests] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(options.jobs):
            warm.put(stack.enter_context(WarmTests(_pytest(target), environment, ROOT)))
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        trials = pool.map(attempt, mutations)
        shown = track(trials, name, len(mutations), console=console, transient=True)
        return sorted(trial for trial in shown if trial is not None)


def _build_all(
    target: Target, text: str, mutations: list[Mutation], folder: Path
) -> tuple[dict[Mutation, int], dict[str, str]]:
    """Build a module with every change in it; return the number of each, and the environment of its tests."""
    if target.modules != (target.source,):
        (folder / "as-is").mkdir()
        return {}, build(folder / "as-is", target.source, text, target.modules)
    left_out: set[int] = set()
    for attempt in itertools.count():
        woven = weave(text, mutations, left_out)
        place = folder / str(attempt)
        place.mkdir()
        try:
            return woven.numbers, build(place, target.source, woven.text, target.modules)
        except BuildError as error:
            wrong = wrong_lines(woven, str(error)) - left_out
            if not wrong:
                raise
            left_out |= wrong
    raise AssertionError


def _outcome_alone(target: Target, text: str, limit_s: float) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            environment = build(Path(folder), target.source, text, target.modules)
        except BuildError:
            return "invalid"
        return _outcome(target, environment, limit_s)[0]


def _outcome(target: Target, environment: dict[str, str], limit_s: float) -> tuple[str, str]:
    """Return killed or survived, and the end of what the tests printed."""
    with WarmTests(_pytest(target), environment, ROOT) as tests:
        return tests.outcome({}, limit_s)


def _pytest(target: Target) -> list[str]:
    """Return the options of pytest: the first failure is enough, and the same examples each time."""
    drawn = any("hypothesis" in (ROOT / test).read_text(encoding="utf-8") for test in target.tests)
    # without examples that plugin is left out: importing it takes a second
    examples = ["--hypothesis-seed=0"] if drawn else ["-p", "no:hypothesispytest"]
    return ["-x", "-q", "-p", "no:cacheprovider", *examples, *target.tests]


def _earlier(file: Path | None) -> dict[tuple[str, str], dict[str, object]]:
    """Return the trials in the file of an earlier run, by target and name of the change."""
    if file is None or not file.exists():
        return {}
    trials = json.loads(file.read_text(encoding="utf-8"))
    return {(t["target"], t["key"]): t for t in trials}


def _keep(file: Path, trials: Iterable[Trial]) -> None:
    """Put trials into the file of `--resume`, in place of those of the same changes."""
    kept = _earlier(file) | {(t.target, t.key): _as_dict(t) for t in trials}
    file.write_text(json.dumps(list(kept.values()), indent=1))


def _explained(source: str) -> dict[tuple[str, str, str], str]:
    if not EXPLAINED.exists():
        return {}
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("mutation", [])
    return {(e["line"], e["old"], e["new"]): e["why"] for e in entries if e["source"] == source}


def _table(trials: Iterable[Trial]) -> Table:
    rows = []
    for name in [*dict.fromkeys(t.target for t in trials), "all"]:
        of = [t.outcome for t in trials if name in (t.target, "all") and t.outcome != "invalid"]
        killed, survived = of.count("killed"), of.count("survived")
        share = f"{100.0 * killed / max(1, killed + survived):.1f} %"
        counts = (len(of), killed, survived, of.count("explained"))
        rows.append([name, *map(str, counts), share])
    heads = figures("tried", "killed", "survived", "explained", "killed of the rest")
    return Table([*words("target"), *heads], rows)


def _as_dict(trial: Trial) -> dict[str, object]:
    return trial._asdict() | {"mutation": trial.mutation._asdict()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="default: all")
    parser.add_argument("--sample", type=int, help="so many changes of each target")
    parser.add_argument("--only", type=int, action="append", help="changes of this line only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e9, help="for each target")
    parser.add_argument("--json", type=Path, help="write every trial to this file")
    parser.add_argument(
        "--resume", type=Path, help="go on with what this file has; it is read and written"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
