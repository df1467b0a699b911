"""`rigloop safety`: the hazards of a rig, the limits that answer them, and its reaction times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import Exit, JsonOption, errors_as_lines, print_json, writing
from rigloop.console.run_options import RigArgument, RunsOption, TrustOption
from rigloop.console.screen import Screen


def safety(
    rig: RigArgument,
    repeats: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of injections of each fault.")
    ] = 20,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--no-measure",
            help="Measure the reaction times by injecting faults, on emulated segments and never on "
            "an interface; or only state them.",
        ),
    ] = True,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure only this fault; repeatable. `rigloop faults` lists the faults."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File for the tables: Markdown, or JSON if its name ends in .json."),
    ] = None,
    trust: TrustOption = False,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Print the hazards of a rig: the detector of each, the limits of this file, and the stated and measured reaction
    time.

    A reaction time is the time from a fault until the guard requests zero torque. It is measured in live runs on
    emulated segments. Runs that did not go as stated are kept. Exit code 1: a reaction exceeded its bound, was not seen
    in every repeat, or could not be tried on this machine.
    """
    from rigloop.compose.consent import require_consent
    from rigloop.compose.wiring import load
    from rigloop.display.tables import show
    from rigloop.display.verdict import line, paragraph, remark, show_places, show_verdict
    from rigloop.safety import verdict, view
    from rigloop.safety.answers import answers_of
    from rigloop.safety.chosen import chosen, known_faults
    from rigloop.safety.measure import measure as measure_reactions
    from rigloop.safety.traced import limits_in

    console = Screen(stderr=json)
    with errors_as_lines(json):
        loaded = load(rig)
        known_faults(only)
        limits, answers = limits_in(loaded.rig), answers_of(loaded.rig)
        measured = None
        if measure and answers:
            wanted = chosen(only, answers)
            require_consent(loaded, trusts=trust)
            measured = measure_reactions(
                loaded, wanted, repeats, runs, lambda words: line(words, console, tone="dim")
            )
    message = view.as_message(loaded, limits, answers, measured, repeats)
    tables = [view.hazards(limits, loaded.name)]
    tables += [view.reactions(answers, measured, loaded.name)] if answers else []
    if out is not None:
        with writing(out, json):
            if out.suffix == ".json":
                out.write_text(as_text(message), encoding="utf-8")
            else:
                out.write_text(view.document(message, [*tables, view.outside()]), encoding="utf-8")
    if json:
        print_json(message)
    else:
        for table in tables:
            show(table, console)
            console.print()
        if not answers:
            paragraph(view.NO_TORQUE, console)
        paragraph(view.NOT_A_SAFETY_FUNCTION, console)
        if measured is not None:
            for words in message["remarks"]:
                remark(words, console)
            otherwise = f"none of {repeats} repeats beyond its stated bound"
            show_verdict(
                message["good"],
                verdict.said(message),
                console,
                otherwise=otherwise,
                incomplete=message["verdict"] == verdict.INCOMPLETE,
            )
        show_places([] if out is None else [out], console)
    raise typer.Exit(int(Exit.GOOD if message["good"] else Exit.BAD_VERDICT))


def as_text(message: object) -> str:
    """Return a message as indented JSON."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(message)).decode() + "\n"
