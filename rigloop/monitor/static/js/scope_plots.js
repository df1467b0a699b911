// A plot for each signal of a capture: trigger, gaps, cursors, figures, and the stored capture dashed beside it.
import { $, el, setText, colour } from "./dom.js";
import { number, tick } from "./numbers.js";
import { after } from "./capture.js";
import { Curve, paintOver } from "./curve.js";
import { Scales } from "./scales.js";
import { ScopeLevels } from "./scope_levels.js";
import { together } from "./scope_together.js";

const HEIGHT = 96;
const THICK = 1.5;
const MARGIN = "200px 0px"; // around the window: what is there will soon be seen

const FIGURES = [["min", "minimum"], ["max", "maximum"], ["mean", "mean"], ["RMS", "rms"], ["f", "frequency_hz"]];
const uPlot = () => window.uPlot;

export class ScopePlots {
  constructor(scope) {
    this.scope = scope;
    this.plots = new Map();
    this.cursors = {};
    this.pointerS = null;
    this.drawn = 0; // captures
    this.isTogether = false;
    this.seen = new IntersectionObserver((changes) => changes.forEach(({ target, isIntersecting }) => this.see(target, isIntersecting)), { rootMargin: MARGIN });
    this.scales = new Scales((path) => {
      this.plots.get(path)?.box.classList.toggle("by-hand", this.scales.chosen.has(path));
      this.redraw();
      scope.page.keepScales();
    });
    this.levels = new ScopeLevels(() => { this.redraw(); scope.moved(); });
    new ResizeObserver(() => this.all().forEach((plot) => plot.setSize({ width: this.width(), height: plot.height }))).observe($("scope-plots"));
  }

  width() {
    return Math.max(200, $("scope-plots").clientWidth || $("scope").clientWidth - 34);
  }

  pixels() {
    return Math.min(4000, Math.max(50, this.width() - 62));
  }

  all() {
    return [...[...this.plots.values()].map(({ plot }) => plot), this.whole].filter(Boolean);
  }

  redraw() {
    this.all().forEach((plot) => plot.redraw(false));
  }

  // all signals in one picture, or each in its own
  together(is) {
    this.isTogether = is;
    this.repaint();
  }

  show(capture, beside, apart) {
    this.capture = capture;
    this.shown = [capture, beside, apart];
    const paths = capture.traces.map(({ path }) => path);
    if (paths.join("\n") !== [...this.plots.keys()].join("\n")) this.make(capture);
    if (this.isTogether) this.showTogether();
    capture.traces.forEach((trace) => {
      const made = this.plots.get(trace.path);
      made.isNew = true;
      this.tell(trace, made);
      if (made.isSeen) this.put(trace, made);
    });
    this.readOut();
    this.drawn += 1;
  }

  // what the plots of single signals and that of all of them have in common
  options() {
    return {
      width: this.width(),
      cursor: { sync: { key: "scope", setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: { setSelect: [(u) => this.select(u)], setCursor: [(u) => this.point(u)], drawClear: [(u) => this.shade(u)], draw: [(u) => this.mark(u)] },
    };
  }

  showTogether() {
    this.whole?.destroy();
    this.whole = together(this.capture, this.options(), $("scope-together"), this.scales);
    this.whole.setScale("x", { min: this.capture.from, max: this.capture.to });
    this.whole.over.addEventListener("dblclick", () => this.scope.look(null));
  }

  // a plot is filled while it can be seen, or when it comes into sight: a capture may have hundreds of signals
  put(trace, made) {
    const [capture, beside] = this.shown;
    const other = beside?.traces.find(({ path }) => path === trace.path);
    made.isNew = false;
    if (this.isTogether) return;
    const { x, y } = trace;
    const data = other ? uPlot().join([[x, y], [other.x, other.y]]) : [x, y, new Array(x.length).fill(null)];
    made.curve.edition += 1;
    made.plot.batch(() => {
      made.plot.setData(data, false);
      made.plot.setScale("x", { min: capture.from, max: capture.to });
    });
  }

  // the figures of a signal
  tell(trace, made) {
    const apart = this.shown[2];
    const found = FIGURES.filter(([, key]) => trace.measured[key] != null).map(([name, key]) => `${name} ${number(trace.measured[key])}${key === "frequency_hz" ? " Hz" : ""}`);
    if (apart[trace.path]?.largest != null) found.push(`apart by ${number(apart[trace.path].largest)} at most, RMS ${number(apart[trace.path].rms)}`);
    setText(made.figures, found.join("   "));
  }

  see(box, is) {
    const [path, made] = [...this.plots].find(([, one]) => one.box === box) ?? [];
    if (!made) return;
    made.isSeen = is;
    const trace = made.isNew && is ? this.capture?.traces.find((one) => one.path === path) : null;
    if (trace) this.put(trace, made);
  }

  make(capture) {
    this.seen.disconnect();
    this.plots.forEach(({ plot }) => plot.destroy());
    this.plots.clear();
    $("scope-plots").replaceChildren();
    $("scope-plots").classList.toggle("rows", this.isTogether);
    $("scope-together").hidden = !this.isTogether;
    const axis = () => ({ stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px sans-serif" });
    capture.traces.forEach(({ path, unit }, k) => {
      const isLast = k === capture.traces.length - 1;
      const ink = colour(`--s${k % 8}`);
      const value = el("span", { class: "value", text: "–" });
      value.style.color = ink;
      const figures = el("span", { class: "figures" });
      const name = el("span", { class: "name" }, value, el("span", { text: `${unit} ${path}`.trim() }));
      const box = el("div", { class: "plot", role: "group", "aria-label": path }, el("div", { class: "names" }, name, figures));
      box.classList.toggle("by-hand", this.scales.chosen.has(path));
      $("scope-plots").append(box);
      const options = this.options();
      const curve = Object.assign(new Curve([ink], THICK), { edition: 0 });
      options.hooks.draw.unshift((u) => paintOver(u, curve, [[u.data[0], u.data[1]]], curve.edition));
      options.hooks.draw.push((u) => this.levels.draw(u, path));
      const plot = new (uPlot())({
        ...options,
        height: isLast ? HEIGHT + 21 : HEIGHT,
        legend: { show: false },
        scales: { x: { time: false }, y: { range: (u, low, high) => this.scales.range(path, low, high) } },
        axes: [isLast ? { ...axis(), size: 24, values: (u, ticks) => ticks.map((t) => `${tick(t)} s`) } : { ...axis(), size: 3, values: (u, ticks) => ticks.map(() => "") }, { ...axis(), size: 62, values: (u, ticks) => ticks.map((t) => tick(t, 4)) }],
        series: [{}, { label: path, stroke: ink, paths: () => null, points: { show: false } }, { label: "stored", stroke: colour("--ink"), width: 1, dash: [5, 4], points: { show: false } }],
      }, [[], [], []], box);
      plot.over.addEventListener("dblclick", () => this.scope.look(null));
      this.levels.watch(plot, path);
      // in one picture there is no axis for each: its name takes the place of one
      this.scales.watch(this.isTogether ? name : box.querySelectorAll(".u-axis")[1], path, () => this.range(path, k), () => (this.isTogether ? this.whole?.height ?? HEIGHT : HEIGHT));
      this.plots.set(path, { plot, value, figures, box, curve, isSeen: false, isNew: false });
      this.seen.observe(box);
    });
  }

  // [min, max] that a signal has now
  range(path, place) {
    const { min, max } = (this.isTogether ? this.whole?.scales[`y${place}`] : this.plots.get(path).plot.scales.y) ?? {};
    return min < max ? [min, max] : [-1, 1];
  }

  repaint() {
    if (!this.capture) return;
    this.make(this.capture);
    this.show(...this.shown);
  }

  select(u) {
    if (u.select.width < 4) return;
    const [from, to] = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.scope.look([from, to]);
  }

  // gaps: cycles that are lost, or that there never were
  shade(u) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = colour("--bad-wash");
    for (const gap of this.capture?.gaps ?? []) {
      const [left, right] = [u.valToPos(gap.from, "x", true), u.valToPos(gap.to, "x", true)];
      const [a, b] = [Math.max(bbox.left, left), Math.min(bbox.left + bbox.width, Math.max(right, left + 2))];
      if (b > a) ctx.fillRect(a, bbox.top, b - a, bbox.height);
    }
    ctx.restore();
  }

  mark(u) {
    this.line(u, 0, "T", "--bad");
    for (const [name, at] of Object.entries(this.cursors)) this.line(u, at, name, "--soft");
  }

  line(u, at, name, ink) {
    const { ctx, bbox } = u;
    const x = u.valToPos(at, "x", true);
    if (!(x >= bbox.left && x <= bbox.left + bbox.width)) return;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour(ink);
    ctx.textAlign = "left";
    ctx.setLineDash(name === "T" ? [] : [4, 3]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(name, x + 3, bbox.top + 11);
    ctx.restore();
  }

  point(u) {
    const before = this.pointerS;
    this.pointerS = u.cursor.left == null || u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x");
    if (before !== this.pointerS) this.readOut();
  }

  setCursor(name) {
    this.cursors[name] = this.pointerS;
    this.readOut();
    this.redraw();
  }

  readOut() {
    for (const { path, x, y } of this.capture?.traces ?? []) {
      const made = this.plots.get(path);
      if (made) setText(made.value, this.pointerS == null ? "–" : number(y[after(x, this.pointerS) - 1]));
    }
    const { A: a, B: b } = this.cursors;
    const at = this.pointerS == null ? "" : `at ${number(this.pointerS, 7)} s`;
    const between = a != null && b != null ? `B − A = ${number(b - a, 6)} s, ${number(1 / Math.abs(b - a), 5)} Hz` : "";
    setText($("scope-between"), [at, between].filter(Boolean).join("   "));
  }
}
