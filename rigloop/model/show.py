"""`rigloop model show`: the facts on the terminal, the picture or the film in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from codegen.description.mechanism import Mechanism, MechanismError, find
from codegen.pose.assembly import Assembled
from rig_configs.mistakes import Mistake
from rigloop.display.verdict import remark
from rigloop.model.facts import ModelFacts, model_facts
from rigloop.model.tables import print_facts

PICTURES = (".svg", ".png", ".pdf")
FILMS = (".gif", ".html")


class Picture(NamedTuple):
    """The file that is wanted, and the motion that it films: that of a run, or a free one of some seconds."""

    output: Path | None = None
    run: Path | None = None
    simulate_s: float | None = None

    @property
    def moves(self) -> bool:
        """True: it is a film."""
        return self.run is not None or self.simulate_s is not None


def show_mechanism(
    name: str,
    wanted: Picture,
    console: Console,
    *,
    quiet: bool,
) -> ModelFacts:
    """Print the facts of a mechanism, and draw or film it.

    Raises
    ------
    MechanismError
        With every mistake of the file and of the options.
    ManifestError
        The run is of another mechanism.
    """
    path = find(name)
    mistakes = list(_wrong(wanted))
    if mistakes:
        raise MechanismError(mistakes)
    with console.status("reading") as status:
        facts, mechanism, assembled = model_facts(path, status.update)
    if not quiet:
        print_facts(facts, console)
    output = wanted.output
    if output is not None:
        try:
            _draw(path, mechanism, assembled, wanted, console)
        except OSError as error:
            problem = f"cannot be written: {error.strerror}"
            raise MechanismError(
                [Mistake(str(output), "--output", problem, "give another")]
            ) from None
        console.print(f"\n[green]written[/]  {escape(str(output))}", highlight=False)
    return facts


def _wrong(wanted: Picture) -> Iterator[Mistake]:
    output, moves = wanted.output, wanted.moves
    if wanted.run is not None and wanted.simulate_s is not None:
        yield Mistake("command line", "--simulate", "stands beside --run", "give one of them")
    if output is None:
        if moves:
            yield Mistake(
                "command line", "--output", "missing", "say where the film goes: .gif, .html"
            )
        return
    good = FILMS if moves else PICTURES
    if output.suffix not in good:
        remedy = f"end it with {', '.join(good)}"
        if output.suffix in FILMS:
            remedy = "a film needs --run FOLDER or --simulate SECONDS"
        kind = "film" if moves else "picture"
        yield Mistake(str(output), "--output", f"is not a {kind} that can be written", remedy)
    elif not output.parent.is_dir():
        yield Mistake(
            str(output), "--output", "its folder is not there", "make it, or give another"
        )


def _draw(
    path: Path,
    mechanism: Mechanism,
    assembled: Assembled,
    wanted: Picture,
    console: Console,
) -> None:
    # matplotlib takes longer to import than a mechanism to read
    from rigloop.drawing.places import sketch

    assert wanted.output is not None
    made = sketch(path, mechanism)
    if not wanted.moves:
        from rigloop.drawing.page import save

        save(made, np.asarray(assembled.q), mechanism.name, wanted.output)
        return
    from rigloop.drawing.film import save_film
    from rigloop.drawing.motion import free_motion, motion_of_run

    with _progress(console, "moving") as tell:
        if wanted.run is not None:
            motion = motion_of_run(wanted.run, mechanism, tell)
        else:
            assert wanted.simulate_s is not None
            motion = free_motion(path, mechanism, wanted.simulate_s, tell)
    for note in motion.notes:
        remark(note, console)
    with _progress(console, "filming") as tell:
        save_film(made, motion, wanted.output, tell)


@contextmanager
def _progress(console: Console, words: str) -> Iterator[Callable[[int, int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
