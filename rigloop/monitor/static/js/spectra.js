// Amplitudes over frequency of a capture's signals: a plot for each, with its highest line.
import { $, el, colour } from "./dom.js";
import { number, tick } from "./numbers.js";

const HEIGHT = 110;

// of a logarithmic axis every second power of ten
const decades = (u, ticks) => ticks.map((v) => (Math.abs(Math.log10(v) / 2 - Math.round(Math.log10(v) / 2)) < 1e-9 ? v : null));

export class Spectra {
  repaint() {
    if (this.shown) this.show(...this.shown);
  }

  show(header, numbers) {
    this.shown = [header, numbers];
    const box = $("scope-lines");
    this.plots?.forEach((plot) => plot.destroy());
    this.plots = [];
    box.replaceChildren(el("h3", { text: "Spectrum" }));
    let at = 0;
    header.signals.forEach((signal, k) => {
      const f = Array.from(numbers.subarray(at, at + signal.n));
      const amplitude = Array.from(numbers.subarray(at + signal.n, at + 2 * signal.n));
      at += 2 * signal.n;
      const peak = signal.peak == null ? "" : `highest line ${number(signal.peak)} ${signal.unit === "1" ? "" : signal.unit} at ${number(signal.peak_hz)} Hz, `;
      const line = el("div", { class: "plot", role: "group", "aria-label": `spectrum of ${signal.path}` }, el("div", { class: "names" }, el("span", { class: "name", text: signal.path }), el("span", { class: "figures", text: `${peak}${signal.samples} cycles` })));
      box.append(line);
      const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px sans-serif" };
      this.plots.push(new window.uPlot({
        width: Math.max(200, box.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        scales: { x: { time: false }, y: { distr: 3 } },
        axes: [{ ...axis, size: 24, values: (u, ticks) => ticks.map((hz) => `${tick(hz)} Hz`) }, { ...axis, size: 62, grid: { ...axis.grid, filter: decades }, filter: decades, values: (u, ticks) => ticks.map((v) => (v == null ? "" : v.toExponential(0))) }],
        series: [{}, { label: signal.path, stroke: colour(`--s${k % 8}`), width: 1.2, points: { show: false } }],
        cursor: { points: { show: false }, drag: { x: true, y: false } },
      }, [f, amplitude.map((v) => (v > 0 ? v : null))], line));
    });
    if (!header.signals.length) box.append(el("p", { class: "note", text: "too few cycles for a spectrum" }));
  }
}
