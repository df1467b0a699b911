"""Curves of the page's strips in a real browser: the right pixels, and those of one painting after many small ones."""

import base64
import os
from importlib.resources import files

import chromium
import pytest

JS = files("rigloop.monitor") / "static" / "js"
CURVE, CYCLES = (
    "data:text/javascript;base64," + base64.b64encode((JS / name).read_bytes()).decode()
    for name in ("curve.js", "cycles.js")
)
WIDTH, HEIGHT = 200, 50
SPAN_S, STEP_S = 2.0, 0.01  # a column is one sample wide, with the sample in its middle
MADE = f"""
globalThis.made = (async () => {{
  const {{ Curve, paintOver }} = await import("{CURVE}");
  const {{ Cycles }} = await import("{CYCLES}");
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
  const paint = (curve, p, edition) => paintOver(p, curve, p.data.slice(1).map((ys) => [p.data[0], ys]), edition);
  return {{ Curve, Cycles, paint, plot, colours, pixels }};
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
    return browser.run(
        f"made.then(({{ Curve, Cycles, paint, plot, colours, pixels }}) => {{ {script} }})"
    )


@pytest.mark.slow
def test_each_column_has_the_curve_where_its_values_are(browser):
    found = painted(
        browser,
        "const p = plot(2, 0); p.data[2] = p.data[2].map(() => null);"
        "paint(new Curve(colours, 1.5), p, 1); return [pixels(p), p.data[1]];",
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
        f"for (let k = 200; k <= 700; k += 1 + (k % 37)) {{ p = plot(k * {STEP_S}, {late}); paint(curve, p, 1); }}"
        "const end = p.scales.x.max;"
        # all of it has come by the last frame
        "p = plot(end, 0); paint(curve, p, 1);"
        "const other = plot(end, 0); paint(new Curve(colours, 1.5), other, 1);"
        "return [pixels(p), pixels(other)];",
    )
    assert left == whole
    assert sum(1 for a in whole[3::4] if a) > WIDTH


@pytest.mark.slow
def test_another_edition_is_painted_anew(browser):
    left, whole = painted(
        browser,
        "const curve = new Curve(colours, 1.5); let p = plot(4, 0); paint(curve, p, 1);"
        "const other = () => { const q = plot(4, 0); q.data[1] = q.data[1].map((v) => -v / 2); return q; };"
        "p = other(); paint(curve, p, 2); const q = other(); paint(new Curve(colours, 1.5), q, 2);"
        "return [pixels(p), pixels(q)];",
    )
    assert left == whole


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["NaN", "null"])
def test_rows_of_another_series_leave_a_line_whole_and_a_missing_value_breaks_it(browser, missing):
    joined, alone, broken = painted(
        browser,
        "const painted = (p) => { paint(new Curve(colours, 1.5), p, 1); return pixels(p); };"
        "const strip = (p, change) => {"
        "  p.data[1] = p.data[1].map(change); p.data[2] = p.data[2].map(() => undefined); return p; };"
        "const joined = strip(plot(2, 0), (v, k) => (k % 4 ? undefined : v));"
        "const alone = strip(plot(2, 0), (v) => v);"
        "alone.data = alone.data.map((row) => row.filter((_, k) => k % 4 === 0));"
        f"const broken = strip(plot(2, 0), (v, k) => (k % 4 ? {missing} : v));"
        "return [joined, alone, broken].map(painted);",
    )
    assert joined == alone
    assert sum(1 for a in broken[3::4] if a) < sum(1 for a in joined[3::4] if a) / 2


@pytest.mark.slow
def test_a_window_of_cycles_has_its_buckets_whatever_was_let_go_before(browser):
    """Least, greatest and last value of bucket k are k, k + 0.5 and k + 0.25; every tenth is a gap."""
    windows = painted(
        browser,
        "const cycles = new Cycles(); const found = [];"
        "const at = (k, more) => (k % 10 === 9 ? NaN : k + more);"
        "for (let first = 0; first < 400; first += 7) {"
        "  const ks = Array.from({ length: 7 }, (_, k) => first + k);"
        "  const numbers = Float64Array.from([0, 0.5, 0.25].flatMap((more) => ks.map((k) => at(k, more))));"
        "  const group = { signals: [0], n: 7, first, bucket_ns: 1e7, single: false };"
        "  cycles.take(['a'], [group], numbers, 0.5);"
        "  const [x, y] = cycles.points('a', cycles.nowS - 0.2, cycles.nowS);"
        "  const ys = [...y].map((v) => (v === v ? v : null));"
        "  found.push([cycles.nowS, [...x], ys, cycles.value('a', cycles.nowS - 0.015)]);"
        "} return found;",
    )
    for now_s, x, y, value in windows[5:]:
        end = round(now_s / 0.01)
        first = round(x[0] / 0.01)
        assert first in (end - 21, end - 20)
        ks = [first + n // 2 for n in range(len(x))]
        assert ks[-1] == end - 1
        assert x == pytest.approx([0.01 * k + 0.005 * (n % 2) for n, k in enumerate(ks)])
        assert y == [None if k % 10 == 9 else k + 0.5 * (n % 2) for n, k in enumerate(ks)]
        last = end - 2
        assert value == (None if last % 10 == 9 else last + 0.25)
