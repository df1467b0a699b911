"""`rigloop tune`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen


class Model(StrEnum):
    """Motion between two samples."""

    VELOCITY = "constant_velocity"
    ACCELERATION = "constant_acceleration"
    JERK = "constant_jerk"


def tune(
    counts: Annotated[
        float | None,
        typer.Option(min=1, help="Counts of the encoder per turn; by default the log's."),
    ] = None,
    period_us: Annotated[
        float | None,
        typer.Option("--period-us", min=1, help="Time between two samples; by default the log's."),
    ] = None,
    bandwidth: Annotated[float | None, typer.Option(help="Desired bandwidth w0, rad/s.")] = None,
    lag_ms: Annotated[
        float | None, typer.Option("--lag-ms", help="Desired lag of the highest derivative.")
    ] = None,
    at_hz: Annotated[
        float, typer.Option("--at", min=0.01, help="Frequency at which the lag is desired, Hz.")
    ] = 4.0,
    model: Annotated[Model, typer.Option(help="Motion between two samples.")] = Model.ACCELERATION,
    log: Annotated[
        Path | None,
        typer.Option(
            help="Fit the process noise to this log by maximum likelihood.", readable=False
        ),
    ] = None,
    stretch: Annotated[
        tuple[float, float] | None, typer.Option(help="Part of the log, s; by default all of it.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture: .png, .svg or .pdf.")] = None,
    json: JsonOption = False,
) -> None:
    """Tune an encoder filter: gains, and the lag over frequency and noise of angle, rate and acceleration."""
    from rig_configs.mistakes import ConfigError, Mistake
    from rigloop.tune import tune as method
    from rigloop.tune.view import draw, show

    fitted = None
    noise_rad = None
    with errors_as_lines(json):
        if log:
            from io_bridge.logs.reader import read_log

            read = read_log(log)
            counts = counts or float(read.mapping.angle.counts_per_rev)
            period_us = period_us or 1e6 * read.sample_period_s
            if bandwidth is None and lag_ms is None:
                fitted = method.fit(read, model.value, stretch)
                bandwidth, noise_rad = fitted.bandwidth_rad_s, fitted.noise_rad
        missing = [
            Mistake("command line", option, "missing", "give it, or --log")
            for option, value in (("--counts", counts), ("--period-us", period_us))
            if value is None
        ]
        if missing:
            raise ConfigError(missing)
        assert counts is not None
        assert period_us is not None
        tuning = method.tune(
            counts,
            1e-6 * period_us,
            method.Wish(bandwidth, lag_ms, at_hz),
            model=model.value,
            noise_rad=noise_rad,
        )
        if plot:
            with writing(plot, json):
                draw(tuning).savefig(plot, dpi=150)
    answer({"tuning": tuning, "fitted": fitted}, lambda: show(tuning, fitted, Screen()), json)
