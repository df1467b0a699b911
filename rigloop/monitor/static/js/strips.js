// Strips: signals over time, with zoom, cursors and read-out while cycles come in.
import { $, el, setText, colour } from "./dom.js";
import { number, tick } from "./numbers.js";
import { Cycles } from "./cycles.js";
import { Scales, around, settled } from "./scales.js";

const HEIGHT = 100;
const READ_MS = 450; // between two read-outs at most
const uPlot = () => window.uPlot;

// The grid of a strip stands still while cycles come in: its times are then those before the newest cycle. So its plot is
// drawn anew only where a scale changes, and the curves of all, on one canvas, by the painting.
export class Strips {
  constructor(page) {
    this.page = page;
    this.live = new Cycles();
    this.zoomed = null; // { from, to, cycles }
    this.strips = [];
    this.cursors = {};
    this.pointerX = null; // since the origin
    this.originS = 0; // where the axis of times has its zero
    this.frozenS = null;
    this.id = 0;
    this.needed = false; // a picture
    this.readMs = 0;
    this.scales = new Scales(() => { this.redraw(); page.keepScales(); });
    // which strips can be seen: to ask for their places in each frame lays the page out
    this.seen = new IntersectionObserver((changes) => changes.forEach(({ target, isIntersecting }) => {
      const strip = this.strips.find((one) => one.box === target);
      if (!strip) return;
      strip.isSeen = isIntersecting;
      if (isIntersecting) this.redraw();
    }));
    new ResizeObserver(() => {
      this.strips.forEach((s) => s.plot?.setSize({ width: this.size().width, height: s.plot.height }));
      this.moved();
    }).observe($("plots"));
  }

  get pointerS() {
    return this.pointerX == null ? null : this.originS + this.pointerX;
  }

  get drawn() {
    return this.page.easel.pictures.strips;
  }

  clear() {
    this.live.clear();
    this.page.easel.roll({ do: "clear" });
  }

  // new cycles of signals, of which a span is kept
  take(paths, groups, numbers, spanS) {
    this.live.take(paths, groups, numbers, spanS);
    this.page.easel.roll({ do: "cycles", paths, groups, numbers, spanS });
  }

  size() {
    return { width: Math.max(200, $("plots").clientWidth), height: HEIGHT };
  }

  // the signals of all strips, without repeats
  paths() {
    return [...new Set(this.strips.flatMap((strip) => strip.paths))];
  }

  show(strips) {
    this.strips.forEach((strip) => strip.plot?.destroy());
    this.seen.disconnect();
    $("plots").replaceChildren();
    uPlot().sync("strips");
    this.strips = strips.map((paths) => ({ paths, plot: null, isSeen: true, values: [], most: paths.map(() => 0), key: "", y: null, place: null }));
    this.strips.forEach((strip, k) => this.make(strip, k));
    this.tell();
    this.moved();
  }

  // has the painting know of the strips
  tell() {
    this.page.easel.roll({ do: "strips", strips: this.strips.map(({ paths }) => ({ paths, colours: paths.map((path, k) => colour(`--s${k % 8}`)) })) });
  }

  make(strip, place) {
    const names = el("div", { class: "names" });
    strip.values = strip.paths.map((path, k) => {
      const value = el("span", { class: "value", text: "–" });
      value.style.color = colour(`--s${k % 8}`);
      const unit = this.page.unit(path);
      names.append(el("span", { class: "name" }, value, el("span", { text: `${unit} ${path}`.trim() })));
      return value;
    });
    names.append(el("button", { type: "button", text: "×", title: "remove", "aria-label": `remove ${strip.paths.join(", ")}`, onclick: () => this.page.removeStrip(place) }));
    const box = el("div", { class: "plot", role: "group", "aria-label": strip.paths.join(", ") }, names);
    $("plots").append(box);
    strip.box = box;
    this.seen.observe(box);
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px sans-serif" };
    const isLast = place === this.strips.length - 1; // its times are those of all
    const { width, height } = this.size();
    const options = {
      width,
      height: isLast ? height + 21 : height,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (u, low, high) => [low ?? -1, high ?? 1] } },
      axes: [isLast ? { ...axis, size: 24, values: (u, ticks) => ticks.map((t) => `${tick(t)} s`) } : { ...axis, size: 3, values: (u, ticks) => ticks.map(() => "") }, { ...axis, size: 62, space: 24, values: (u, ticks) => ticks.map((t) => tick(t, 4)) }],
      series: [{}, { label: strip.paths[0], paths: () => null, points: { show: false } }],
      cursor: { sync: { key: "strips", setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: { setSelect: [(u) => this.select(u)], setCursor: [(u) => this.point(u)], draw: [() => this.moved()] },
    };
    strip.plot = new (uPlot())(options, [[0, 1], [null, null]], box);
    strip.plot.over.addEventListener("dblclick", () => this.release());
    this.scales.watch(box.querySelectorAll(".u-axis")[1], strip.paths[0], () => strip.y ?? [-1, 1], () => this.size().height);
  }

  // the plots may stand elsewhere now
  moved() {
    this.area = null;
    this.redraw();
  }

  // where the plots are, in pixels of the screen: asked for once, because that lays the page out
  measure() {
    const ratio = devicePixelRatio;
    const box = $("rolls").getBoundingClientRect();
    const pixels = (value) => Math.round(value * ratio);
    this.strips.forEach((strip) => {
      const { left, top, width, height } = strip.plot.over.getBoundingClientRect();
      strip.place = { left: pixels(left - box.left), top: pixels(top - box.top), width: pixels(width), height: pixels(height) };
    });
    this.area = { ratio, width: pixels(box.width), height: pixels(box.height), places: this.strips.map(({ place }) => [place.left, place.top, place.width]).join(" ") };
  }

  select(u) {
    if (u.select.width < 4) return;
    const from = this.originS + u.posToVal(u.select.left, "x");
    const to = this.originS + u.posToVal(u.select.left + u.select.width, "x");
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoom(Math.max(0, from), to);
  }

  zoom(from, to) {
    if (to - from < 1e-4) return;
    this.zoomed = { from, to, paths: this.paths(), cycles: null };
    this.frozenS = this.live.nowS;
    this.id += 1;
    this.page.send({ do: "range", id: this.id, signals: this.zoomed.paths, from_s: from, to_s: to, pixels: this.pixels() });
    this.page.heldChanged(true);
    this.fit();
  }

  pixels() {
    return Math.min(4000, Math.max(50, this.size().width - 62));
  }

  // cycles of a zoomed range, at full rate
  takeRange(header, numbers) {
    if (!this.zoomed || header.id !== this.id) return;
    const cycles = new Cycles();
    cycles.take(this.zoomed.paths, header.groups, numbers, 0);
    this.zoomed.cycles = cycles;
    this.page.easel.roll({ do: "range", paths: this.zoomed.paths, groups: header.groups, numbers });
    this.fit();
  }

  hold() {
    if (this.frozenS != null) return this.release();
    this.zoom(Math.max(0, this.live.nowS - this.page.layout.span_s), this.live.nowS);
  }

  release() {
    this.zoomed = this.frozenS = null;
    this.page.heldChanged(false);
    this.fit();
  }

  point(u) {
    const before = this.pointerX;
    this.pointerX = u.cursor.left == null || u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x");
    if (before !== this.pointerX) this.readOut();
  }

  setCursor(name) {
    if (this.pointerS == null) return;
    this.cursors[name] = this.pointerS;
    this.readOut();
    this.redraw();
  }

  shown() {
    return this.zoomed?.cycles ?? this.live;
  }

  // the read-out of a frame: with the state, five times a second; a change of text alone would lay out and paint the page once more
  read(withState) {
    if (withState || performance.now() - this.readMs > READ_MS) this.readOut();
  }

  readOut() {
    this.readMs = performance.now();
    const cycles = this.shown();
    const newest = this.pointerS == null;
    for (const strip of this.strips) {
      strip.paths.forEach((path, k) => {
        const value = newest ? this.live.value(path) : cycles.value(path, this.pointerS);
        strip.most[k] = Math.max(strip.most[k], Math.abs(value) || 0);
        setText(strip.values[k], steady(value, strip.most[k]));
      });
    }
    const { A: a, B: b } = this.cursors;
    const at = newest ? "" : `at ${number(this.pointerS, 7)} s`;
    const between = a != null && b != null ? `B − A = ${number(b - a, 6)} s, ${number(1 / Math.abs(b - a), 5)} Hz` : "";
    setText($("between"), [at, between].filter(Boolean).join("   "));
  }

  // other cycles are shown: automatic scales fit them
  fit() {
    this.strips.forEach((strip) => { strip.y = null; });
    this.redraw();
  }

  redraw() {
    this.needed = true;
    this.page.wake();
  }

  // has all strips drawn that can be seen
  draw() {
    const { easel, layout } = this.page;
    if (!easel.isFree("strips")) return;
    this.needed = false;
    const end = Math.max(this.live.nowS, layout.span_s);
    const [from, to] = this.zoomed ? [this.zoomed.from, this.zoomed.to] : [end - layout.span_s, end];
    // the times of a whole span that has come are counted back from its end
    this.originS = this.zoomed || end === layout.span_s ? 0 : end;
    const seen = this.strips.filter((strip) => strip.isSeen);
    seen.forEach((strip) => this.scale(strip, from, to));
    if (this.area?.ratio !== devicePixelRatio) this.measure();
    const pictures = seen.map((strip) => ({ id: this.strips.indexOf(strip), ...strip.place, y: { min: strip.y[0], max: strip.y[1] } }));
    const marks = Object.entries(this.cursors);
    easel.draw("strips", { from, to, isZoomed: Boolean(this.zoomed?.cycles), ...this.area, pictures, marks, ink: colour("--soft") });
  }

  // the scales of a strip; its grid is drawn where one of them is another one
  scale(strip, from, to) {
    const byHand = this.scales.chosen.get(strip.paths[0]);
    const isByHand = Boolean(byHand);
    strip.y = byHand ?? settled(strip.isByHand ? null : strip.y, rangeOf(strip.paths.map((path) => this.shown().points(path, from, to)[1])));
    strip.isByHand = isByHand;
    const x = [from - this.originS, to - this.originS].map((t) => Number(t.toFixed(9)));
    const key = [...x, ...strip.y, isByHand].join();
    if (key === strip.key) return;
    strip.key = key;
    strip.box.classList.toggle("by-hand", isByHand);
    strip.plot.batch(() => {
      strip.plot.setScale("x", { min: x[0], max: x[1] });
      strip.plot.setScale("y", { min: strip.y[0], max: strip.y[1] });
    });
  }
}

// a number with as many places as the largest one so far needs, so that it does not jump about
function steady(value, most) {
  if (!Number.isFinite(value) || most >= 1e6 || (most > 0 && most < 1e-4) || Number.isInteger(value) && Number.isInteger(most)) return number(value);
  return value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(Math.max(most, 1)))));
}

// the range of a vertical axis
function rangeOf(series) {
  let low = Infinity;
  let high = -Infinity;
  for (const values of series) {
    for (let k = 0; k < values.length; k++) {
      const value = values[k]; // neither is a NaN
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return around(low, high);
}
