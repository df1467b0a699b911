"""`rigloop identify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.run_options import MappingOption
from rigloop.console.screen import Screen


def identify(
    log: Annotated[Path, typer.Argument(help="A log with angle and torque (CSV).", readable=False)],
    torque: Annotated[
        str | None,
        typer.Option(
            help="Torque of the log's mapping that turns the rotor; by default the first "
            "one in N m."
        ),
    ] = None,
    fit: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Part of the log that is used for the fit, s; by default the first half "
            "of the time without hands."
        ),
    ] = None,
    judge: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Part of the log that is used for the test, s; by default the second "
            "half. It must not overlap --fit."
        ),
    ] = None,
    mapping: MappingOption = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of the test part: .png, .svg or .pdf.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Identify inertia and friction from a log, and test a torque observer on another part of the log."""
    from io_bridge.logs.reader import read_log
    from rig_configs.log_schema import load_mapping
    from rigloop.identify import identify as method
    from rigloop.identify.compare import judge as judged_on
    from rigloop.identify.compare import observe
    from rigloop.identify.view import draw, show

    with errors_as_lines(json):
        read = read_log(log, load_mapping(mapping) if mapping else None)
        name = method.torque_of(read, torque)
        fit, judge = method.stretches(read, fit, judge)
        found = method.identify(read, name, *fit)
        method.refuse_no_rotor(read, found)
        observation = observe(read, found)
        judged = judged_on(observation, *judge)
        if plot:
            with writing(plot, json):
                draw(found, observation, judged).savefig(plot, dpi=150)
    observer = {"bandwidth_rad_s": observation.bandwidth_rad_s, "rotor": observation.rotor}
    message = {"identification": found, "observer": observer, "judgement": judged}
    answer(message, lambda: show(found, observation, judged, Screen()), json)
