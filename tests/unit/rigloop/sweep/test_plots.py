"""Plots of a sweep: a surface where the points say one, and the share that it explains."""

import numpy as np

from rigloop.sweep.plots import plot_sweep, response_surface


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
