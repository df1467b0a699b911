"""`rigloop commission`: arguments in, a walk and its verdict out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import Exit, JsonOption, errors_as_lines, print_json
from rigloop.console.run_options import BusOption, GuardOption, RigArgument, TrustOption
from rigloop.console.screen import Screen
from rigloop.display.verdict import show_places, show_verdict

MOST_BYTES = 1 << 16


def commission(
    rig: RigArgument,
    bus: BusOption = None,
    guard: GuardOption = None,
    first: Annotated[
        str | None,
        typer.Option(
            "--from", help="Begin with this step; the steps before it must already be good."
        ),
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            "--who",
            help="Name of the person who signs; the command asks for it if it is not given.",
        ),
    ] = None,
    stiffness: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Stiffness that the rig renders at the wheel, Nm/rad, if no model in the rig gives "
            "it; 0: none. The value can make a model stiffer, but never softer.",
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="File with one line for each answer, in place of the keyboard.", readable=False
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Begin without asking. A step that needs a hand cannot become good then."
        ),
    ] = False,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Walk through a real drive at a twentieth of its torque, with one measured question per step, and sign the rig
    off. On a simulated bus the walk is a rehearsal.
    """
    console = Screen(stderr=json)
    with errors_as_lines(json):
        from rig_configs.bounded import UnreadableError, read_text
        from rig_configs.mistakes import ConfigError, Mistake
        from rigloop.commission.commission import commission as walk_through
        from rigloop.commission.talk import SilentTalk, TerminalTalk
        from rigloop.compose.consent import require_consent
        from rigloop.compose.wiring import load

        loaded = load(rig)
        require_consent(loaded, trusts=trust)
        lines = None
        if answers is not None:
            try:
                lines = read_text(answers, MOST_BYTES).splitlines()
            except UnreadableError as error:
                mistake = Mistake("command line", "--answers", str(error), value=str(answers))
                raise ConfigError([mistake]) from None
        talk = SilentTalk(console) if yes and lines is None else TerminalTalk(console, lines)
        outcome = walk_through(
            loaded,
            talk,
            guard=guard,
            bus=bus,
            first=first,
            who=who,
            stiffness_nm_rad=stiffness,
            answers=not yes,
        )
    if json:
        print_json(outcome)
    else:
        console.print()
        reasons = [] if outcome.good else [f"not good yet: {', '.join(outcome.missing)}"]
        otherwise = "a rehearsal, nothing is signed" if outcome.rehearsal else "signed off"
        show_verdict(outcome.good, reasons, console, otherwise=otherwise)
        if outcome.signed is not None:
            show_places([outcome.signed], console)
    raise typer.Exit(int(Exit.GOOD if outcome.good else Exit.BAD_VERDICT))
