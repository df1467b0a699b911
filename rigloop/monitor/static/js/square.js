// One signal over another, as torque over angle.
import { $, el, sharp, colour, number } from "./dom.js";

const MOST = 1500; // points
const EDGE = { left: 58, right: 10, top: 8, bottom: 30 };

export class Square {
  constructor(page) {
    this.page = page;
    for (const id of ["across", "up"]) $(id).addEventListener("change", () => page.chooseSquare($("across").value, $("up").value));
  }

  offer(signals, across, up) {
    for (const [id, chosen] of [["across", across], ["up", up]]) {
      $(id).replaceChildren(...signals.map(([path]) => el("option", { value: path, text: path, selected: path === chosen })));
    }
    this.across = across;
    this.up = up;
    $("square").hidden = !across || !up;
  }

  paths() {
    return [this.across, this.up].filter(Boolean);
  }

  draw() {
    if (!this.across || !this.up || $("square").hidden) return;
    const cycles = this.page.strips.shown();
    const grid = cycles.grids.get(this.up);
    const { drawn, width, height } = sharp($("square-plot"));
    if (!grid || !grid.n || !cycles.grids.get(this.across)) return;
    const xs = [];
    const ys = [];
    const last = grid.rows.get(this.up)[2];
    for (let k = Math.max(0, grid.n - MOST); k < grid.n; k++) {
      const x = cycles.value(this.across, (grid.first + k + 0.5) * grid.width);
      if (Number.isFinite(x) && Number.isFinite(last[k])) {
        xs.push(x);
        ys.push(last[k]);
      }
    }
    if (!xs.length) return;
    const [x0, x1] = spread(xs);
    const [y0, y1] = spread(ys);
    const px = (x) => EDGE.left + ((x - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
    const py = (y) => height - EDGE.bottom - ((y - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
    drawn.strokeStyle = colour("--line");
    drawn.fillStyle = colour("--soft");
    drawn.font = "12px sans-serif";
    drawn.lineWidth = 1;
    for (let k = 0; k <= 4; k++) {
      const x = x0 + ((x1 - x0) * k) / 4;
      const y = y0 + ((y1 - y0) * k) / 4;
      drawn.beginPath();
      drawn.moveTo(px(x), EDGE.top);
      drawn.lineTo(px(x), height - EDGE.bottom);
      drawn.moveTo(EDGE.left, py(y));
      drawn.lineTo(width - EDGE.right, py(y));
      drawn.stroke();
      drawn.textAlign = k === 0 ? "left" : k === 4 ? "right" : "center";
      drawn.fillText(`${number(x, 3)}${k === 4 ? ` ${this.page.unit(this.across)}` : ""}`, px(x), height - EDGE.bottom + 16);
      drawn.textAlign = "right";
      drawn.fillText(`${number(y, 3)}${k === 4 ? ` ${this.page.unit(this.up)}` : ""}`, EDGE.left - 5, py(y) + (k === 4 ? 9 : 4));
    }
    drawn.strokeStyle = colour("--s0");
    drawn.lineWidth = 1.4;
    drawn.beginPath();
    xs.forEach((x, k) => (k ? drawn.lineTo(px(x), py(ys[k])) : drawn.moveTo(px(x), py(ys[k]))));
    drawn.stroke();
    drawn.fillStyle = colour("--s1");
    drawn.beginPath();
    drawn.arc(px(xs.at(-1)), py(ys.at(-1)), 5, 0, 7);
    drawn.fill();
  }
}

function spread(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const room = Math.max(high - low, 1e-6 * Math.max(1, Math.abs(high))) * 0.06;
  return [low - room, high + room];
}
