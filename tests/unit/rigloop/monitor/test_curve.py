"""Curves of the page's strips in a real browser: the right pixels, and those of one painting after many small ones."""

import base64
import os
from importlib.resources import files

import chromium
import pytest

SOURCE = (files("rigloop.monitor") / "static" / "js" / "curve.js").read_bytes()
WIDTH, HEIGHT = 200, 50
SPAN_S, STEP_S = 2.0, 0.01  # a column is one sample wide, with the sample in its middle
MADE = f"""
globalThis.made = (async () => {{
  const {{ Curve }} = await import("data:text/javascript;base64,{base64.b64encode(SOURCE).decode()}");
  const waves = [(t) => Math.sin(3 * t), (t) => (Math.floor(t) % 2 ? null : 0.5 * Math.cos(40 * t))];
  const plot = (endS, late) => {{
    const canvas = Object.assign(document.createElement("canvas"), {{ width: {WIDTH}, height: {HEIGHT} }});
    const n = Math.round(endS / {STEP_S});
    const xs = Array.from({{ length: n }}, (_, k) => (k + 0.5) * {STEP_S});
    // the second signal comes from a task that lags
    const ys = waves.map((wave, w) => xs.map((t, k) => (w && k >= n - late ? null : wave(t))));
    return {{ bbox: {{ left: 0, top: 0, width: {WIDTH}, height: {HEIGHT} }}, ctx: canvas.getContext("2d"),
      scales: {{ x: {{ min: endS - {SPAN_S}, max: endS }}, y: {{ min: -1.25, max: 1.25 }} }}, data: [xs, ...ys] }};
  }};
  const colours = ["#0067a5", "#c0500c"];
  const pixels = (p) => [...p.ctx.getImageData(0, 0, {WIDTH}, {HEIGHT}).data];
  return {{ Curve, plot, colours, pixels }};
}})()
"""


@pytest.fixture(scope="module")
def browser():
    if chromium.found() is None and not os.environ.get("RIGLOOP_NEEDS_CHROMIUM"):
        pytest.skip("Chromium is missing: apt-get install chromium")
    with chromium.Chromium(400, 300) as made:
        made.run(f"({MADE}).then(() => 1)")
        yield made


def painted(browser, script):
    """Return rows of (red, green, blue, alpha) of each pixel that a script has painted."""
    return browser.run(f"made.then(({{ Curve, plot, colours, pixels }}) => {{ {script} }})")


@pytest.mark.slow
def test_each_column_has_the_curve_where_its_values_are(browser):
    found = painted(
        browser,
        "const p = plot(2, 0); p.data[2] = p.data[2].map(() => null);"
        "new Curve(colours, 1.5).paint(p, 1); return [pixels(p), p.data[1]];",
    )
    numbers, values = found
    for column in range(1, WIDTH - 1):
        before, here, after = (HEIGHT * (1.25 - v) / 2.5 for v in values[column - 1 : column + 2])
        # where the line enters the column, its sample, and where the line leaves; half of its thickness to both sides
        at = ((before + here) / 2, here, (here + after) / 2)
        top, bottom = min(at) - 0.75, max(at) + 0.75
        alpha = [numbers[4 * (row * WIDTH + column) + 3] for row in range(HEIGHT)]
        covered = [max(0.0, min(bottom, row + 1) - max(top, row)) for row in range(HEIGHT)]
        # a pixel has 255 steps
        assert alpha == pytest.approx([255 * share for share in covered], abs=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 7, 60])
def test_small_paintings_one_after_the_other_leave_the_pixels_of_a_whole_one(browser, late):
    left, whole = painted(
        browser,
        "const curve = new Curve(colours, 1.5); let p;"
        f"for (let k = 200; k <= 700; k += 1 + (k % 37)) {{ p = plot(k * {STEP_S}, {late}); curve.paint(p, 1); }}"
        "const end = p.scales.x.max;"
        # all of it has come by the last frame
        "p = plot(end, 0); curve.paint(p, 1);"
        "const other = plot(end, 0); new Curve(colours, 1.5).paint(other, 1);"
        "return [pixels(p), pixels(other)];",
    )
    assert left == whole
    assert sum(1 for a in whole[3::4] if a) > WIDTH


@pytest.mark.slow
def test_another_edition_is_painted_anew(browser):
    left, whole = painted(
        browser,
        "const curve = new Curve(colours, 1.5); let p = plot(4, 0); curve.paint(p, 1);"
        "const other = () => { const q = plot(4, 0); q.data[1] = q.data[1].map((v) => -v / 2); return q; };"
        "p = other(); curve.paint(p, 2); const q = other(); new Curve(colours, 1.5).paint(q, 2);"
        "return [pixels(p), pixels(q)];",
    )
    assert left == whole
