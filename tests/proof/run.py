"""Prove what is stated of the guard, the bus and what runs beside each other: docs/proofs.md.

    python tests/proof/run.py
    python tests/proof/run.py --only guard --json
    python tests/proof/run.py --tool spin
    python tests/proof/run.py --mutants

The sources themselves are read, not copies of them. --mutants changes each function and expects that a property falls.
Without a tool its own properties are left out, and the line that installs it is printed.
Exit codes: 0 all proved (of --mutants: none survives), 1 a property is false or open (a mutant survives),
2 wrong input, 3 a tool is missing and all else is good.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from rigloop.display.tables import Table, figures, show, words

sys.path.insert(0, str(Path(__file__).parent))

import eva_ranges
import spin_models
from mutants import MUTANTS, applied
from tools import INSTALL, Answer, is_there, missing

ROOT = Path(__file__).parents[2]


class Proof(NamedTuple):
    """A property, its tool, and the call that tries it, of changed sources where some are given."""

    name: str
    tool: str
    words: str
    attempt: Callable[..., Answer]


def proofs(tools: Sequence[str]) -> list[Proof]:
    """Return every property of these tools; no other tool is asked for."""
    found: list[Proof] = []
    if "bitwuzla" in tools:
        import bus_properties
        import guard_properties
        import reach_properties
        from prover import prove

        for item in (
            *guard_properties.PROPERTIES,
            *reach_properties.PROPERTIES,
            *bus_properties.PROPERTIES,
        ):
            found.append(Proof(item.name, "bitwuzla", item.words, _bound(prove, item)))
    if "spin" in tools:
        for model in spin_models.MODELS_OF:
            search = _bound(spin_models.search, model)
            found.append(Proof(model.name, "spin", model.words, search))
    if "frama-c" in tools:
        for ranges in eva_ranges.RANGES:
            analyse = _bound(eva_ranges.analyse, ranges)
            found.append(Proof(ranges.name, "frama-c", ranges.words, analyse))
    return found


def _bound(function: Callable[..., Answer], item: object) -> Callable[..., Answer]:
    return lambda changed=None, longest_s=120.0: function(item, changed, longest_s)


def main() -> int:
    options = _options()
    wanted = options.tool or list(INSTALL)
    lacking = [tool for tool in wanted if not is_there(tool)]
    chosen = [
        proof
        for proof in proofs([tool for tool in wanted if tool not in lacking])
        if not options.only or any(text in proof.name for text in options.only)
    ]
    say = Console(stderr=True)
    for tool in lacking:
        say.print(missing(tool), markup=False)
    if not chosen and not lacking:
        say.print(f"no property has {' or '.join(options.only)} in its name", markup=False)
        return 2
    bad = _mutants(chosen, options) if options.mutants else _properties(chosen, options)
    return 1 if bad else 3 if lacking else 0


def _answers(calls: Sequence[Callable[[], Answer]], jobs: int) -> list[Answer]:
    """Return the answers of calls, so many at a time, each in a process of its own."""
    if jobs < 2:
        return [call() for call in calls]
    _calls[:] = calls
    # forked: what a call is bound to need not be sent
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        return list(pool.map(_called, range(len(calls))))


_calls: list[Callable[[], Answer]] = []


def _called(number: int) -> Answer:
    return _calls[number]()


def _properties(chosen: list[Proof], options: argparse.Namespace) -> bool:
    answers = _answers(
        [partial(proof.attempt, longest_s=options.seconds) for proof in chosen], options.jobs
    )
    if options.json:
        print(
            json.dumps(
                [a._asdict() | {"words": p.words} for a, p in zip(answers, chosen, strict=True)],
                indent=1,
            )
        )
    else:
        rows = [
            [a.name, p.words, a.tool, f"{a.seconds:.1f}", a.outcome]
            for a, p in zip(answers, chosen, strict=True)
        ]
        show(
            Table([*words("property", "in words", "tool"), *figures("s"), *words("outcome")], rows),
            Console(),
        )
        for answer in answers:
            if answer.outcome != "proved":
                print(f"{answer.name}: {answer.outcome}: {answer.said}")
    return any(answer.outcome != "proved" for answer in answers)


def _mutants(chosen: list[Proof], options: argparse.Namespace) -> bool:
    by_name = {proof.name: proof for proof in chosen}
    rows, survivors = [], 0
    mutants = [mutant for mutant in MUTANTS if mutant.falls in by_name]
    calls = []
    for mutant in mutants:
        text = (ROOT / mutant.source).read_text(encoding="utf-8")
        changed: Mapping[str, str] = {mutant.source: applied(mutant, text)}
        calls.append(partial(by_name[mutant.falls].attempt, changed, options.seconds))
    for mutant, answer in zip(mutants, _answers(calls, options.jobs), strict=True):
        fell = answer.outcome == "false"
        survivors += not fell
        what = f"{mutant.old.strip()} -> {mutant.new.strip() or 'nothing'}"
        outcome = "fell" if fell else f"survived ({answer.outcome})"
        rows.append(
            [mutant.function, what, mutant.falls, answer.tool, f"{answer.seconds:.1f}", outcome]
        )
    heads = ("function", "change", "property", "tool", "seconds", "outcome")
    if options.json:
        print(json.dumps([dict(zip(heads, row, strict=True)) for row in rows], indent=1))
    else:
        show(Table([*words(*heads[:4]), *figures("s"), *words("outcome")], rows), Console())
        print(f"{len(rows)} mutants, {survivors} survived")
    return bool(survivors)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="properties with this in their name",
    )
    parser.add_argument(
        "--tool", action="append", choices=list(INSTALL), help="properties of this tool alone"
    )
    parser.add_argument(
        "--mutants", action="store_true", help="change each function and see that a property falls"
    )
    parser.add_argument("--json", action="store_true", help="print facts instead of a table")
    parser.add_argument(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="properties that are tried at a time; without it one for each processor",
    )
    parser.add_argument("--seconds", type=float, default=120.0, help="longest time for a property")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
