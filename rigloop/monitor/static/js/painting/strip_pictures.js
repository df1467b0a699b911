// Curves and cursors of the strips. They have the cycles here, too, so that a frame needs nothing but its range.
import { Curve } from "../curve.js";
import { Cycles } from "../cycles.js";

const THICK = 1.5;
const DASHES = [4, 3];

export class StripPictures {
  // reply takes { drawn: "strips" } after each picture
  constructor(reply) {
    this.reply = reply;
    this.canvas = null; // of all strips
    this.strips = [];
    this.places = "";
    this.live = new Cycles();
    this.zoomed = null;
  }

  take(message) {
    const handlers = {
      canvases: () => { this.canvas = message.strips; },
      strips: () => { this.strips = message.strips.map(({ paths, colours }) => ({ paths, curve: new Curve(colours, THICK) })); },
      clear: () => this.live.clear(),
      cycles: () => this.live.take(message.paths, message.groups, message.numbers, message.spanS),
      range: () => { this.zoomed = new Cycles(); this.zoomed.take(message.paths, message.groups, message.numbers, 0); },
      picture: () => { this.draw(message); this.reply({ drawn: "strips" }); },
    };
    handlers[message.do]();
  }

  // pictures are those of strips that can be seen: places in pixels of the screen, and vertical range; marks are cursors
  draw({ from, to, isZoomed, ratio, width, height, places, pictures, marks, ink }) {
    const cycles = isZoomed ? this.zoomed : this.live;
    const { canvas } = this;
    const context = canvas.getContext("2d");
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    else if (places !== this.places) context.clearRect(0, 0, width, height);
    this.places = places;
    for (const { id, y, ...place } of pictures) {
      const { paths, curve } = this.strips[id];
      const on = { context, ratio, ...place };
      curve.paint(on, { x: { min: from, max: to }, y }, paths.map((path) => cycles.points(path, from, to)), cycles.edition);
      for (const [name, at] of marks) mark(on, name, ((at - from) / (to - from)) * on.width, ink);
    }
  }
}

function mark({ context, left, top, width, height, ratio }, name, x, ink) {
  if (!(x >= 0 && x <= width)) return;
  context.save();
  context.translate(left, top);
  context.strokeStyle = context.fillStyle = ink;
  context.font = `${12 * ratio}px sans-serif`;
  context.setLineDash(DASHES.map((each) => each * ratio));
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.fillText(name, x + 3 * ratio, 11 * ratio);
  context.restore();
}
