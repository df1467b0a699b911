"""Plots of a sweep: a tornado of what each parameter moves; of the two that move most a heat map and a surface."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from rig_configs.plain import file_name, math_free
from rigloop.plots.figures import BLUE, ORANGE, STYLE
from rigloop.sweep.table import Columns, numbers

MOST_CELLS = 12  # of a heat map's side; a sample is put into as many bins
MOST_BARS = 16
INK = "#1c2733"
QUADRATIC_TERMS = 6
SURFACE_POINTS = 60  # of a side


def moved(columns: Columns, key: str, metric: str) -> tuple[float, float, float]:
    """Return the mean of a metric over all, and over the replays with the lowest and highest values of a parameter.

    Of a sample, lowest and highest are the outer quarters.
    """
    x, y = numbers(columns, key), np.array(columns[metric], float)
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if not len(y):
        return (np.nan, np.nan, np.nan)
    _, low, high = _outer(x)
    return float(np.mean(y)), float(np.mean(y[x <= low])), float(np.mean(y[x >= high]))


def _outer(x: np.ndarray) -> tuple[bool, float, float]:
    """Return the lowest and the highest value of a few, or the ends of the outer quarters of many."""
    few = len(np.unique(x)) <= MOST_CELLS
    low, high = (np.min(x), np.max(x)) if few else np.quantile(x, [0.25, 0.75])
    return few, float(low), float(high)


def plot_sweep(
    columns: Columns,
    keys: list[str],
    metrics: list[str],
    folder: Path,
    units: Mapping[str, str] = MappingProxyType({}),
) -> list[Path]:
    """Write the plots of each metric; return their files.

    Parameters
    ----------
    units : mapping of str to str
        Unit of each metric; "" or none where nobody knows it.

    Raises
    ------
    OSError
        One cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    varied = [key for key in keys if len(np.unique(numbers(columns, key))) > 1]
    made = []
    with matplotlib.rc_context(STYLE):
        for metric in metrics:
            if not varied or not np.any(np.isfinite(columns[metric])):
                continue
            name, unit = file_name(metric, "metric"), units.get(metric, "")
            made.append(folder / f"{name}_tornado.png")
            tornado(columns, varied, metric, unit).savefig(made[-1], dpi=130)
            if len(varied) > 1:
                made.append(folder / f"{name}_map.png")
                heat_map(columns, varied, metric, unit).savefig(made[-1], dpi=130)
                figure = response_surface(columns, varied, metric, unit)
                if figure is not None:
                    made.append(folder / f"{name}_surface.png")
                    figure.savefig(made[-1], dpi=130)
    return made


def _by_effect(columns: Columns, keys: list[str], metric: str) -> list[str]:
    def effect(key: str) -> float:
        _, low, high = moved(columns, key, metric)
        return -abs(high - low) if np.isfinite(high - low) else 0.0

    return sorted(keys, key=effect)


def tornado(columns: Columns, keys: list[str], metric: str, unit: str = "") -> Figure:
    """Draw how far the mean of a metric moves with each parameter, the strongest on top."""
    ordered = _by_effect(columns, keys, metric)[:MOST_BARS]
    figure = Figure(figsize=(8.0, 1.6 + 0.5 * len(ordered)), layout="constrained")
    axes = figure.add_subplot()
    has_errors, is_grid = False, _is_grid(columns, keys, metric)
    for place, key in enumerate(ordered):
        mean, low, high = moved(columns, key, metric)
        errors = (0.0, 0.0) if is_grid else _standard_errors(columns, key, metric)
        ends = ((low, BLUE, "lowest"), (high, ORANGE, "highest"))
        for (value, colour, label), error in zip(ends, errors, strict=True):
            legend = f"at the {label} values" if place == 0 else None
            axes.barh(place, value - mean, left=mean, height=0.6, color=colour, label=legend)
            if error > 0.0:
                axes.errorbar(value, place, xerr=error, color=INK, capsize=3, linewidth=1.0)
                has_errors = True
    mean = moved(columns, ordered[0], metric)[0]
    axes.axvline(mean, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(ordered)), [_ends(columns, key) for key in ordered])
    axes.invert_yaxis()
    axes.set_xlabel(
        f"mean of {_with_unit(metric, unit)} over the other parameters and all logs"
        + (
            "\nwhiskers: standard error of samples, whose other parameters differ too"
            if has_errors
            else ""
        )
    )
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def _is_grid(columns: Columns, keys: list[str], metric: str) -> bool:
    """Say whether every combination is there equally often, so that other parameters move no mean of one of them."""
    values = np.column_stack([numbers(columns, key) for key in keys])
    _, counts = np.unique(values[np.isfinite(columns[metric])], axis=0, return_counts=True)
    combinations = np.prod([len(np.unique(column)) for column in values.T])
    return len(counts) == combinations and len(np.unique(counts)) == 1


def _standard_errors(columns: Columns, key: str, metric: str) -> tuple[float, float]:
    """Return the standard errors of the means at both ends of a parameter."""
    x, y = numbers(columns, key), np.array(columns[metric], float)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    _, low, high = _outer(x)
    ends = [y[x <= low], y[x >= high]]
    low_error, high_error = (
        float(np.std(e, ddof=1) / np.sqrt(len(e))) if len(e) > 1 else 0.0 for e in ends
    )
    return low_error, high_error


def _with_unit(metric: str, unit: str) -> str:
    return math_free(f"{metric} ({unit})" if unit and unit != "1" else metric)


def _ends(columns: Columns, key: str) -> str:
    """Return a parameter with the values that its bar is about."""
    values = columns[key]
    if all(isinstance(value, int | float) for value in values):
        few, low, high = _outer(numbers(columns, key))
        ends = f"{low:.4g} … {high:.4g}" if few else f"≤ {low:.4g} … ≥ {high:.4g}"
        return f"{math_free(key)}\n{ends}"
    # words have no lowest and highest one but the first and the last that were given
    known = [math_free(str(value)) for value in dict.fromkeys(values)]
    return f"{math_free(key)}\n{known[0]} … {known[-1]}"


def heat_map(columns: Columns, keys: list[str], metric: str, unit: str = "") -> Figure:
    """Draw the mean of a metric over the two parameters that move it most."""
    across, up = _by_effect(columns, keys, metric)[:2]
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    axes = figure.add_subplot()
    (x, x_names), (y, y_names) = _cells(columns, across), _cells(columns, up)
    values = np.array(columns[metric], float)
    grid = np.full((len(y_names), len(x_names)), np.nan)
    for row in range(len(y_names)):
        for column in range(len(x_names)):
            inside = values[(x == column) & (y == row) & np.isfinite(values)]
            if len(inside):
                grid[row, column] = np.mean(inside)
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(x_names)), x_names, rotation=30, ha="right")
    axes.set_yticks(range(len(y_names)), y_names)
    axes.set_xlabel(math_free(across))
    axes.set_ylabel(math_free(up))
    axes.grid(visible=False)
    figure.colorbar(image, label=f"mean of {_with_unit(metric, unit)}")
    return figure


def response_surface(
    columns: Columns, keys: list[str], metric: str, unit: str = ""
) -> Figure | None:
    """Draw the quadratic in the two strongest parameters that fits a metric best; none where it has no one answer.

    The share of the metric's variance that it explains stands beside it: the rest is other parameters, logs, and shape.
    """
    numeric = [key for key in keys if all(isinstance(v, int | float) for v in columns[key])]
    if len(numeric) < 2:
        return None
    across, up = _by_effect(columns, numeric, metric)[:2]
    z = np.array(columns[metric], float)
    known = np.isfinite(z)
    x, y, z = numbers(columns, across)[known], numbers(columns, up)[known], z[known]
    if len(z) < QUADRATIC_TERMS or not (np.ptp(x) and np.ptp(y)):
        return None
    fitted, _, rank, _ = np.linalg.lstsq(_terms(x, y, x, y), z, rcond=None)
    if rank < QUADRATIC_TERMS:
        return None  # two values of a parameter have no curvature
    left = z - _terms(x, y, x, y) @ fitted
    share = 1.0 - float(np.var(left) / np.var(z)) if np.var(z) > 0.0 else 1.0
    side = [np.linspace(np.min(one), np.max(one), SURFACE_POINTS) for one in (x, y)]
    at_x, at_y = np.meshgrid(*side)
    shape = (_terms(at_x.ravel(), at_y.ravel(), x, y) @ fitted).reshape(at_x.shape)
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    axes = figure.add_subplot()
    filled = axes.contourf(at_x, at_y, shape, levels=16, cmap="viridis")
    axes.plot(x, y, ".", color="white", markersize=4, markeredgecolor=INK)
    axes.set_xlabel(math_free(across))
    axes.set_ylabel(math_free(up))
    axes.grid(visible=False)
    axes.set_title(f"explains {100.0 * share:.3g} % of the variance", fontsize="medium")
    figure.colorbar(filled, label=f"{_with_unit(metric, unit)}, quadratic fit")
    return figure


def _terms(x: np.ndarray, y: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
    # terms of a quadratic in parameters from -1 to 1 over the range that was swept
    u, v = (2.0 * (one - np.min(of)) / np.ptp(of) - 1.0 for one, of in ((x, of_x), (y, of_y)))
    return np.column_stack([np.ones_like(u), u, v, u * u, u * v, v * v])


def _cells(columns: Columns, key: str) -> tuple[np.ndarray, list[str]]:
    """Return in which cell of a side each replay lies, and the names of the cells."""
    x = numbers(columns, key)
    known = np.unique(x)
    if len(known) <= MOST_CELLS:
        values = columns[key]
        first = [values[int(np.argmax(x == one))] for one in known]
        return np.searchsorted(known, x), [math_free(_short(value)) for value in first]
    edges = np.linspace(known[0], known[-1], MOST_CELLS + 1)
    cells = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, MOST_CELLS - 1)
    return cells, [f"{(a + b) / 2:.3g}" for a, b in pairwise(edges)]


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
