// One signal over another, as torque over angle.
import { $, el, sharp, colour, tick } from "./dom.js";

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
    const tell = (value, text, along) => {
      const x = along ? px(value) : EDGE.left;
      const y = along ? height - EDGE.bottom : py(value);
      drawn.beginPath();
      drawn.moveTo(x, along ? EDGE.top : y);
      drawn.lineTo(along ? x : width - EDGE.right, y);
      drawn.stroke();
      drawn.textAlign = along ? "center" : "right";
      drawn.fillText(text, along ? x : EDGE.left - 5, along ? y + 16 : y + 4);
    };
    ticks(x0, x1, width / 90).forEach((x) => tell(x, tick(x, 4), true));
    ticks(y0, y1, height / 50).forEach((y) => tell(y, tick(y, 4), false));
    drawn.textAlign = "right";
    drawn.fillText(this.page.unit(this.across), width - EDGE.right, height - EDGE.bottom - 5);
    drawn.textAlign = "left";
    drawn.fillText(this.page.unit(this.up), EDGE.left + 5, EDGE.top + 11);
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

// round numbers within a range
function ticks(low, high, most) {
  const rough = (high - low) / Math.max(2, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
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
