"""Pictures of mechanisms: what is in them, where, and that it can be read."""

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from codegen.description.mechanism import load
from codegen.description.n_four_bar import n_four_bar
from rigloop.drawing.page import page, save
from rigloop.drawing.places import sketch
from rigloop.drawing.views import IN_PLANE, SIDES, plane_of

SHIPPED = {
    "steering_26": None,
    "steering_rack": None,
    "slider_crank": "z",
    "double_four_bar": "z",
    "guided_rod": "z",
}


def pose(mechanism):
    return np.array([c.initial for c in mechanism.system.coordinates])


def texts(figure):
    """Written words with their boxes on the figure, in pixels; without the numbers of a scale."""
    renderer = figure.canvas.get_renderer()
    figure.canvas.draw()
    numbers = {t for ax in figure.axes for t in (*ax.get_xticklabels(), *ax.get_yticklabels())}
    found = [t for t in figure.findobj(Text) if t.get_text().strip() and t not in numbers]
    return [(t.get_text(), t.get_window_extent(renderer)) for t in found]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_mechanism_is_drawn_in_its_plane_or_in_space(name):
    mechanism = load(name)
    assert plane_of(sketch(name, mechanism), pose(mechanism)) == SHIPPED[name]


def test_a_spatial_mechanism_that_starts_flat_is_spatial(tmp_path):
    path = tmp_path / "flat.toml"
    path.write_text(
        '[point.P]\nposition_m = [1, 0, 0]\n[constant_distance.rod]\npoints = [[0, 0, 0], "P"]\n'
        '[mass.ball]\npoint = "P"\nmass_kg = 1.0\n'
    )
    mechanism = load(path)
    assert plane_of(sketch(path, mechanism), pose(mechanism)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_name_is_on_the_page_and_none_on_another(name):
    mechanism = load(name)
    figure = page(sketch(name, mechanism), pose(mechanism), name)
    found = texts(figure)
    words = {word for word, _ in found}
    assert {p for p, v in mechanism.system.points.items()} <= words
    width, height = figure.canvas.get_width_height()
    cut = [w for w, b in found if b.x0 < 0 or b.y0 < 0 or b.x1 > width or b.y1 > height]
    assert not cut
    main = figure.axes[0].texts
    boxes = [(t.get_text(), t.get_window_extent()) for t in main if t.get_text()]
    over = [
        (a, b)
        for i, (a, one) in enumerate(boxes)
        for b, other in boxes[:i]
        if min(one.x1, other.x1) - max(one.x0, other.x0) > 3
        and min(one.y1, other.y1) - max(one.y0, other.y0) > 3
    ]
    assert not over


@pytest.mark.slow
@pytest.mark.parametrize("name", ["steering_rack", "slider_crank"])
def test_axes_are_equal(name):
    mechanism = load(name)
    figure = page(sketch(name, mechanism), pose(mechanism), name)
    figure.canvas.draw()
    for ax in figure.axes:
        box = ax.get_window_extent()
        (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
        assert (x1 - x0) / box.width == pytest.approx((y1 - y0) / box.height, rel=1e-6)


def test_the_legend_names_what_is_there_and_nothing_else():
    mechanism = load("guided_rod")
    figure = page(sketch("guided_rod", mechanism), pose(mechanism), "guided_rod")
    (legend,) = figure.legends
    words = {text.get_text() for text in legend.get_texts()}
    expected = {"uniform rod", "fixed point", "moving point", "guided coordinate"}
    assert expected <= words
    assert "rigid body" not in words


def test_shapes_follow_the_coordinates():
    mechanism = load("guided_rod")
    made = sketch("guided_rod", mechanism)
    turn = 0.7
    q = np.array([0.3 * np.cos(turn), 0.3 * np.sin(turn), turn])
    shapes = made.at(q)
    rod = next(s for s in shapes if s.style == "rod")
    assert np.allclose(rod.points, [[0, 0, 0], [q[0], q[1], 0]])
    arc = next(s for s in shapes if s.kind == "arc")
    end = arc.points[-1]
    assert np.arctan2(end[1], end[0]) == pytest.approx(turn)
    assert arc.style == "guide"


@pytest.mark.slow
def test_a_large_mechanism_leaves_out_names_without_room(tmp_path):
    path = tmp_path / "n_four_bar_40.toml"
    path.write_text(n_four_bar(40))
    mechanism = load(path)
    figure = page(sketch(path, mechanism), pose(mechanism), "n_four_bar_40")
    assert "no room for" in figure.axes[0].get_title(loc="left")
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in figure.axes[0].texts if t.get_text()]
    assert len(boxes) > 30


def test_files_are_pictures_and_svg_is_the_same_each_time(tmp_path):
    mechanism = load("slider_crank")
    made = sketch("slider_crank", mechanism)
    for name in ("one.svg", "two.svg", "picture.png"):
        save(made, pose(mechanism), "slider_crank", tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.svg", "two.svg"))
    assert one.startswith(b"<?xml")
    assert one == two
    picture = np.asarray(Image.open(tmp_path / "picture.png").convert("L"))
    assert np.mean(picture < 250) > 0.01  # something is on it
    assert np.all(picture[0] == 255)  # and nothing runs over its edge
    assert np.all(picture[:, -1] == 255)


def test_views_are_right_handed():
    for view in (*IN_PLANE.values(), *SIDES):
        assert np.allclose(view.matrix @ view.matrix.T, np.eye(2))
        assert np.allclose(np.cross(*view.matrix), view.eye)
