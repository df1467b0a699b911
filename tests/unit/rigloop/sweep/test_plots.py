"""Plots of a sweep: a surface where the points say one, and the share that it explains."""

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from rigloop.sweep.plots import heat_map, plot_sweep, response_surface, tornado


def swept(values=5, names=False):
    x, y = np.meshgrid(np.linspace(1.0, 3.0, values), np.linspace(10.0, 20.0, values))
    x, y = x.ravel(), y.ravel()
    z = 2.0 + x * x - 0.1 * x * y + 0.01 * y * y
    up = [f"m{v:.0f}" for v in y] if names else y.tolist()
    return {"a": x.tolist(), "b": up, "peak": z.tolist()}


def test_a_quadratic_is_explained_wholly():
    figure = response_surface(swept(), ["a", "b"], "peak")
    assert figure.axes[0].get_title() == "explains 100 % of the variance"


def test_points_that_bend_nothing_have_no_surface(tmp_path):
    assert response_surface(swept(values=2), ["a", "b"], "peak") is None
    assert response_surface(swept(names=True), ["a", "b"], "peak") is None
    unknown = swept() | {"peak": [float("nan")] * 25}
    assert response_surface(unknown, ["a", "b"], "peak") is None
    names = [path.name for path in plot_sweep(swept(), ["a", "b"], ["peak"], tmp_path)]
    assert names == ["peak_tornado.png", "peak_map.png", "peak_surface.png"]


def test_axes_have_the_unit_of_the_metric_and_the_values_of_each_parameter():
    figure = tornado(swept(), ["a", "b"], "peak", "Nm")
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith("mean of peak (Nm) over")
    labels = {label.get_text() for label in axes.get_yticklabels()}
    assert labels == {"a\n1 … 3", "b\n10 … 20"}
    assert not axes.containers[-1].get_label().startswith("whisker")
    assert heat_map(swept(), ["a", "b"], "peak", "Nm").axes[1].get_ylabel() == "mean of peak (Nm)"
    assert "(" not in tornado(swept(), ["a"], "peak", "1").axes[0].get_xlabel()


def test_a_sample_says_its_quarters_and_its_standard_error():
    x = np.linspace(0.0, 1.0, 41)
    columns = {"a": x.tolist(), "b": [0.0, 1.0] * 20 + [0.0], "peak": (x * 2.0).tolist()}
    (axes,) = tornado(columns, ["a", "b"], "peak", "s").axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["a\n≤ 0.25 … ≥ 0.75", "b\n0 … 1"]
    assert "standard error" in axes.get_xlabel()
    errors = [c.lines[2][0] for c in axes.containers if isinstance(c, ErrorbarContainer)]
    widths = [np.ptp(line.get_segments()[0][:, 0]) for line in errors]
    # of the eleven lowest and highest values, and of those at each value of the other one
    of = [x[:11], x[-11:], x[::2], x[1::2]]
    assert widths == pytest.approx([2 * np.std(2.0 * v, ddof=1) / np.sqrt(len(v)) for v in of])
