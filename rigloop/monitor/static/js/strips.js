// Strips: signals over time, with zoom, cursors and read-out while cycles come in.
import { $, el, setText, colour } from "./dom.js";
import { number, tick } from "./numbers.js";
import { Curve } from "./curve.js";
import { Cycles } from "./cycles.js";

const HEIGHT = 100;
const THICK = 1.5;
const uPlot = () => window.uPlot;

export class Strips {
  constructor(page) {
    this.page = page;
    this.live = new Cycles();
    this.zoomed = null; // { from, to, cycles }
    this.strips = [];
    this.cursors = {};
    this.pointerS = null;
    this.frozenS = null;
    this.id = 0;
    this.sync = null;
    this.drawn = 0; // frames
    // which strips can be seen: to ask for their places in each frame lays the page out
    this.seen = new IntersectionObserver((changes) => changes.forEach(({ target, isIntersecting }) => {
      const strip = this.strips.find((one) => one.box === target);
      if (!strip) return;
      strip.isSeen = isIntersecting;
      if (isIntersecting) this.page.redraw();
    }));
    new ResizeObserver(() => this.strips.forEach((s) => s.plot?.setSize({ width: this.size().width, height: s.plot.height }))).observe($("plots"));
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
    this.sync = uPlot().sync("strips");
    this.strips = strips.map((paths) => ({ paths, plot: null, isSeen: true, values: [], most: paths.map(() => 0) }));
    this.strips.forEach((strip, k) => this.make(strip, k));
    this.draw();
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
    const colours = strip.paths.map((path, k) => colour(`--s${k % 8}`));
    strip.curve = new Curve(colours, THICK);
    this.seen.observe(box);
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px sans-serif" };
    const isLast = place === this.strips.length - 1; // its times are those of all
    const { width, height } = this.size();
    const options = {
      width,
      height: isLast ? height + 21 : height,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (u) => rangeOf(u.data) } },
      axes: [isLast ? { ...axis, size: 24, values: (u, ticks) => ticks.map((t) => `${tick(t)} s`) } : { ...axis, size: 3, values: (u, ticks) => ticks.map(() => "") }, { ...axis, size: 62, space: 24, values: (u, ticks) => ticks.map((t) => tick(t, 4)) }],
      series: [{}, ...strip.paths.map((path, k) => ({ label: path, stroke: colours[k], paths: () => null, points: { show: false } }))],
      cursor: { sync: { key: "strips", setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: {
        setSelect: [(u) => this.select(u)],
        setCursor: [(u) => this.point(u)],
        draw: [(u) => { strip.curve.paint(u, this.shown().edition); this.drawCursors(u); }],
      },
    };
    strip.plot = new (uPlot())(options, [[], ...strip.paths.map(() => [])], box);
    strip.plot.over.addEventListener("dblclick", () => this.release());
  }

  select(u) {
    if (u.select.width < 4) return;
    const from = u.posToVal(u.select.left, "x");
    const to = u.posToVal(u.select.left + u.select.width, "x");
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
    this.draw();
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
    this.draw();
  }

  hold() {
    if (this.frozenS != null) return this.release();
    this.zoom(Math.max(0, this.live.nowS - this.page.layout.span_s), this.live.nowS);
  }

  release() {
    this.zoomed = this.frozenS = null;
    this.page.heldChanged(false);
    this.draw();
  }

  point(u) {
    const before = this.pointerS;
    this.pointerS = u.cursor.left == null || u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x");
    if (before !== this.pointerS) this.readOut();
  }

  setCursor(name) {
    if (this.pointerS == null) return;
    this.cursors[name] = this.pointerS;
    this.readOut();
    this.strips.forEach((strip) => strip.plot.redraw(false));
  }

  drawCursors(u) {
    const ctx = u.ctx;
    ctx.save();
    for (const [name, at] of Object.entries(this.cursors)) {
      const x = u.valToPos(at, "x", true);
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
      ctx.strokeStyle = ctx.fillStyle = colour("--soft");
      ctx.textAlign = "left";
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(x, u.bbox.top);
      ctx.lineTo(x, u.bbox.top + u.bbox.height);
      ctx.stroke();
      ctx.fillText(name, x + 3, u.bbox.top + 11);
    }
    ctx.restore();
  }

  shown() {
    return this.zoomed?.cycles ?? this.live;
  }

  readOut() {
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

  // draws all strips that can be seen
  draw() {
    const now = this.live.nowS;
    const end = Math.max(now, this.page.layout.span_s);
    const [from, to] = this.zoomed ? [this.zoomed.from, this.zoomed.to] : [end - this.page.layout.span_s, end];
    for (const strip of this.strips) {
      if (!strip.isSeen) continue;
      const tables = strip.paths.map((path) => this.shown().points(path, from, to));
      strip.plot.batch(() => {
        strip.plot.setData(joined(tables), false);
        strip.plot.setScale("x", { min: from, max: to });
      });
    }
    this.readOut();
    this.drawn += 1;
  }
}

// a number with as many places as the largest one so far needs, so that it does not jump about
function steady(value, most) {
  if (!Number.isFinite(value) || most >= 1e6 || (most > 0 && most < 1e-4) || Number.isInteger(value) && Number.isInteger(most)) return number(value);
  return value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(Math.max(most, 1)))));
}

// the range of a vertical axis
function rangeOf([, ...series]) {
  let low = Infinity;
  let high = -Infinity;
  for (const values of series) {
    for (let k = 0; k < values.length; k++) {
      const value = values[k];
      if (value == null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? uPlot().rangeNum(low, high, 0.1, true) : [-1, 1];
}

// one table of times for the signals of a strip
function joined(tables) {
  if (tables.length === 1) return tables[0];
  if (tables.every(([x]) => x.buffer === tables[0][0].buffer && x.length === tables[0][0].length && x.byteOffset === tables[0][0].byteOffset)) return [tables[0][0], ...tables.map(([, y]) => y)];
  return window.uPlot.join(tables);
}
