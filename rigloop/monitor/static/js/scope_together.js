// All signals of a capture in one picture, each on a scale of its own; and one of them over another.
import { $, colour, colours, sizeOf } from "./dom.js";
import { tick } from "./numbers.js";
import { drawAcross } from "./across.js";
import { valueAt } from "./capture.js";

const HEIGHT = 340;
const MOST = 16;
const uPlot = () => window.uPlot;

// the picture of all signals; options are those that it shares with the plots of single ones, chosen the scales of a person
export function together(capture, options, box, chosen) {
  const traces = capture.traces.slice(0, MOST);
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px sans-serif" };
  const data = uPlot().join(traces.map(({ x, y }) => [x, y]));
  return new (uPlot())({
    ...options,
    height: HEIGHT,
    legend: { show: false },
    scales: { x: { time: false }, ...Object.fromEntries(traces.map(({ path }, k) => [`y${k}`, { range: (u, low, high) => chosen.range(path, low, high) }])) },
    axes: [{ ...axis, size: 24, values: (u, ticks) => ticks.map((t) => `${tick(t)} s`) }],
    series: [{}, ...traces.map(({ path }, k) => ({ label: path, scale: `y${k}`, stroke: colour(`--s${k % 8}`), width: 1.5, points: { show: false } }))],
  }, data, box);
}

// values of one signal over those of another, at the times of the second; of an envelope the middles of its stretches
export function across(capture, canvas, over, up) {
  const [a, b] = [over, up].map((path) => capture.traces.find((trace) => trace.path === path));
  const [xs, ys] = [[], []];
  b.times.forEach((t, k) => {
    const [x, y] = [valueAt(a, t), (b.low[k] + b.high[k]) / 2];
    if (!Number.isFinite(x + y)) return;
    xs.push(x);
    ys.push(y);
  });
  drawAcross(canvas, { xs, ys, units: [a.unit, b.unit], ratio: window.devicePixelRatio || 1, colours: colours(), ...sizeOf(canvas) });
  canvas.setAttribute("aria-label", `${up} over ${over}, ${xs.length} points`);
}
