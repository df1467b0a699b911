// The panel of one signal over another, as torque over angle (across.js draws it).
import { $, el, sizeOf, colours } from "./dom.js";

const MOST = 1500; // points

export class Square {
  constructor(page) {
    this.page = page;
    this.needed = false; // a picture
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

  // the newest points, as one array for each signal
  points() {
    const cycles = this.page.strips.shown();
    const grid = cycles.grids.get(this.up);
    const [xs, ys] = [[], []];
    if (!grid || !grid.n || !cycles.grids.get(this.across)) return [xs, ys];
    const last = grid.rows.get(this.up).last;
    for (let k = Math.max(0, grid.n - MOST); k < grid.n; k++) {
      const x = cycles.value(this.across, (grid.first + k + 0.5) * grid.width);
      if (Number.isFinite(x) && Number.isFinite(last[k])) {
        xs.push(x);
        ys.push(last[k]);
      }
    }
    return [xs, ys];
  }

  draw() {
    if (!this.across || !this.up || !this.page.easel.isFree("across")) return;
    const [xs, ys] = this.points().map((values) => Float64Array.from(values));
    const units = [this.across, this.up].map((path) => this.page.unit(path));
    this.page.easel.draw("across", { xs, ys, units, colours: colours(), ratio: window.devicePixelRatio || 1, ...sizeOf($("square-plot")) });
    this.needed = false;
  }
}
