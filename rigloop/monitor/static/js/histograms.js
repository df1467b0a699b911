// Histograms of lateness and step time: a picture for each task, both in it.
import { $, el, sharp, colour, setText } from "./dom.js";

const KINDS = { late: ["late", "--s1"], step: ["step", "--s0"] };
const micros = (ns) => `${(ns * 1e-3).toFixed(ns < 10000 ? 1 : 0)} µs`;

function percentile({ edges_ns: edges, counts }, share) {
  const all = counts.reduce((sum, n) => sum + n, 0);
  let sum = 0;
  for (let k = 0; k < counts.length; k++) {
    sum += counts[k];
    if (sum >= share * all) return edges[k];
  }
  return 0;
}

export class Histograms {
  constructor() {
    this.shown = {};
    new ResizeObserver(() => this.take(this.shown)).observe($("histograms"));
  }

  take(tasks) {
    this.shown = tasks;
    const box = $("histograms");
    for (const [name, kinds] of Object.entries(tasks)) {
      let row = [...box.children].find((one) => one.dataset.task === name);
      if (!row) {
        row = el("div", {}, el("p"), el("canvas", { role: "img" }));
        row.dataset.task = name;
        box.append(row);
      }
      // a replay has no clock
      const isTimed = Object.values(kinds).some((h) => h.most_ns > 0);
      row.lastChild.hidden = !isTimed;
      const said = Object.entries(kinds).filter(([, h]) => h.counts.length).map(([kind, h]) => `${KINDS[kind][0]} p99 ${micros(percentile(h, 0.99))}, longest ${micros(h.most_ns)}`);
      setText(row.firstChild, `${name}: ${isTimed ? said.join("; ") : "no times of cycles"}`);
      row.lastChild.setAttribute("aria-label", row.firstChild.textContent);
      if (isTimed) this.draw(row.lastChild, kinds);
    }
  }

  clear() {
    this.shown = {};
    $("histograms").replaceChildren();
  }

  draw(canvas, kinds) {
    const { drawn, width, height } = sharp(canvas);
    const all = Object.values(kinds).filter((h) => h.counts.length);
    if (!all.length) return;
    const low = Math.log(Math.min(...all.map((h) => h.edges_ns[0])) / 1.19);
    const high = Math.log(Math.max(...all.map((h) => h.edges_ns.at(-1))));
    const most = Math.log1p(Math.max(...all.flatMap((h) => h.counts)));
    const x = (ns) => ((Math.log(ns) - low) / Math.max(high - low, 1e-9)) * (width - 2) + 1;
    const bottom = height - 16;
    for (const [kind, h] of Object.entries(kinds)) {
      drawn.fillStyle = colour(KINDS[kind][1]);
      drawn.globalAlpha = 0.65;
      h.edges_ns.forEach((edge, k) => {
        const tall = (Math.log1p(h.counts[k]) / most) * (bottom - 4);
        const left = x(edge / 1.19);
        drawn.fillRect(left, bottom - tall, Math.max(1, x(edge) - left - 1), tall);
      });
    }
    drawn.globalAlpha = 1;
    drawn.font = "11px sans-serif";
    drawn.fillStyle = colour("--soft");
    let free = 0; // from here on no number stands yet
    for (let ns = 100; ns < 1e10; ns *= 10) {
      if (Math.log(ns) < low || Math.log(ns) > high) continue;
      const text = ns < 1e6 ? `${ns / 1000} µs` : `${ns / 1e6} ms`;
      const wide = drawn.measureText(text).width;
      const left = Math.min(x(ns), width - wide);
      if (left >= free) {
        drawn.textAlign = "left";
        drawn.fillText(text, left, height - 3);
        free = left + wide + 6;
      }
      drawn.fillRect(x(ns), bottom, 1, 4);
    }
  }
}
