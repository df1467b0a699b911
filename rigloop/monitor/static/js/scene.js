// The panel of a mechanism in space: which one, from where it is looked at, and what its picture needs (painting/space.js draws it).
import { $, el, setText, sizeOf, colours } from "./dom.js";

export class Scene {
  constructor(page) {
    this.page = page;
    this.drawings = [];
    this.poses = [];
    this.chosen = 0;
    this.needed = false; // a picture
    this.turn = { azimuth: -0.9, height: 0.45, away: 1.25 };
    $("which").addEventListener("change", () => this.choose($("which").selectedIndex));
    new ResizeObserver(() => this.redraw()).observe($("scene"));
    this.steer($("scene"));
  }

  clear() {
    this.drawings = [];
    this.poses = [];
    this.chosen = 0;
    $("mechanism").hidden = true;
  }

  take(drawing) {
    this.drawings[drawing.index] = drawing;
    $("mechanism").hidden = false;
    $("which").hidden = this.drawings.length < 2;
    $("which").replaceChildren(...this.drawings.map((d) => el("option", { text: d.block })));
    this.note();
    this.build();
  }

  note() {
    const { notes, problem } = this.drawings[this.chosen] ?? { notes: [] };
    const missing = this.page.easel.problem ? "This browser has no WebGL: the mechanism is not drawn." : "";
    setText($("scene-note"), [...notes, problem, missing].filter(Boolean).join("; "));
  }

  pose(index, numbers) {
    this.poses[index] = numbers;
    if (index === this.chosen) this.redraw();
  }

  choose(index) {
    this.chosen = index;
    this.note();
    this.build();
    this.page.follow();
  }

  // signals that the arrows and tyres follow
  paths() {
    const { moments = [], forces = [] } = this.drawings[this.chosen] ?? {};
    return [...moments.flatMap((m) => [m.signal, m.angle]), ...forces.flatMap((f) => f.signals)].filter(Boolean);
  }

  build() {
    const drawing = this.drawings[this.chosen];
    if (!drawing) return;
    this.page.easel.post({ do: "build", drawing, colours: colours() });
    this.redraw();
  }

  draw() {
    if (!this.drawings[this.chosen] || !this.page.easel.isFree("space")) return;
    const { live } = this.page.strips;
    const values = Object.fromEntries(this.paths().map((path) => [path, live.value(path)]));
    const { turn, poses } = this;
    this.page.easel.draw("space", { pose: poses[this.chosen], values, turn, ratio: window.devicePixelRatio || 1, ...sizeOf($("scene")) });
    this.needed = false;
  }

  redraw() {
    this.needed = true;
    this.page.wake();
  }

  steer(box) {
    let held = null;
    box.addEventListener("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => {
      if (!held) return;
      this.rotate((held[0] - event.clientX) * 0.008, (event.clientY - held[1]) * 0.008);
      held = [event.clientX, event.clientY];
    });
    box.addEventListener("pointerup", () => { held = null; });
    box.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.turn.away = Math.min(6, Math.max(0.3, this.turn.away * Math.exp(event.deltaY * 0.001)));
      this.redraw();
    }, { passive: false });
    box.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (!step) return;
      event.preventDefault();
      this.rotate(...step);
    });
  }

  rotate(azimuth, height) {
    this.turn.azimuth += azimuth;
    this.turn.height = Math.min(1.5, Math.max(-1.5, this.turn.height + height));
    this.redraw();
  }
}
