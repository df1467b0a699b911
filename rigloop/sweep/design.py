"""The points of a sweep: every combination of lists and ranges, or samples of them."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from rig_configs.mistakes import ConfigError, Mistake
from rigloop.compose.changed_rig import read_setting, read_value

Method = Literal["sobol", "latin", "random"]
MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Axis:
    """One key and its values; of a range a sample may have any value between."""

    key: str
    values: tuple[Any, ...]
    is_range: bool

    def at(self, share: float) -> Any:
        """Return the value at a share from 0 to 1 of the way."""
        if not self.is_range:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        low, high = self.values[0], self.values[-1]
        value = low + share * (high - low)
        return round(value) if isinstance(low, int) and isinstance(high, int) else value


def read_axis(text: str) -> Axis:
    """Return the axis of `KEY=1,2,5` or `KEY=FIRST:LAST:COUNT`.

    Raises
    ------
    ConfigError
        It is neither.
    """
    steps, value = read_setting(text)
    key = ".".join(f'"{step}"' if "." in step else step for step in steps)
    parts = value.split(":")
    if len(parts) == 3:
        low, high, count = map(read_value, parts)
        if not (_is_number(low) and _is_number(high) and isinstance(count, int) and count >= 2):
            remedy = "write FIRST:LAST:COUNT with numbers and a count of at least 2"
            raise ConfigError([Mistake("--set", text, "is not a range", remedy)])
        if low == high:
            problem = f"{count} values from {low} to {high} are all the same"
            remedy = "write FIRST:LAST:COUNT, not FIRST:STEP:LAST"
            raise ConfigError([Mistake("--set", text, problem, remedy)])
        if count > MOST_POINTS:
            problem = f"has {count} values, at most {MOST_POINTS}"
            raise ConfigError([Mistake("--set", text, problem, "--sample draws from few")])
        made = [low + (high - low) * k / (count - 1) for k in range(count)]
        made[-1] = high  # not a rounding beside it
        if isinstance(low, int) and isinstance(high, int) and (high - low) % (count - 1) == 0:
            made = [round(one) for one in made]
        return Axis(key, tuple(made), True)
    try:
        values = tomllib.loads(f"v = [{value}]")["v"]
    except ValueError:
        values = [read_value(part.strip()) for part in value.split(",")]
    return Axis(key, tuple(values), False)


def points_of(
    axes: Sequence[Axis], sample: int | None = None, method: Method = "sobol", seed: int = 0
) -> list[tuple[Any, ...]]:
    """Return the values of each point: all combinations, or a number of samples.

    Raises
    ------
    ConfigError
        A key that stands twice, too many points, or scipy, which draws the samples, is not installed.
    """
    keys = [axis.key for axis in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise ConfigError(
                [Mistake("--set", key, "is set twice", "give all its values at once")]
            )
    n_points = math.prod(len(axis.values) for axis in axes) if sample is None else sample
    if n_points > MOST_POINTS:
        problem = f"{n_points} points, at most {MOST_POINTS}"
        raise ConfigError(
            [Mistake("--set", ", ".join(keys), problem, "--sample takes some of them")]
        )
    if sample is None:
        return list(itertools.product(*(axis.values for axis in axes)))
    if method == "random" or not axes:
        shares = np.random.default_rng(seed).random((sample, len(axes)))
    else:
        qmc = _scipy(method)
        kind = qmc.Sobol if method == "sobol" else qmc.LatinHypercube
        shares = _drawn(kind(d=len(axes), seed=seed), sample, method)
    return [
        tuple(axis.at(float(share)) for axis, share in zip(axes, row, strict=True))
        for row in shares
    ]


def _scipy(method: str) -> Any:
    try:
        return import_module("scipy.stats").qmc
    except ImportError as error:
        problem = f"is drawn with scipy, which is not here ({error})"
        remedy = "pip install 'rigloop[sweep]', or --method random"
        raise ConfigError([Mistake("--sample", f"--method {method}", problem, remedy)]) from None


def _drawn(engine: Any, sample: int, method: str) -> np.ndarray:
    if method != "sobol":
        return engine.random(sample)
    # a power of two keeps the sequence balanced; the first of them are taken
    return engine.random_base2(max(0, math.ceil(math.log2(sample))))[:sample]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
