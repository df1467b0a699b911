// One signal over another on a canvas: round numbers at its edges, a line, and a point where it is now.
// It knows no page, so that a thread of its own can draw it.
import { tick } from "./numbers.js";

const EDGE = { left: 58, right: 10, top: 8, bottom: 30 };

// points are xs and ys; units are of both; width and height are of the page, ratio the pixels of the screen under one of its own
export function drawAcross(canvas, { xs, ys, units, width, height, ratio, colours }) {
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const drawn = canvas.getContext("2d");
  drawn.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawn.clearRect(0, 0, width, height);
  if (!xs.length) return;
  const [x0, x1] = spread(xs);
  const [y0, y1] = spread(ys);
  const px = (x) => EDGE.left + ((x - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
  const py = (y) => height - EDGE.bottom - ((y - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
  drawn.strokeStyle = colours["--line"];
  drawn.fillStyle = colours["--soft"];
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
  drawn.fillText(units[0], width - EDGE.right, height - EDGE.bottom - 5);
  drawn.textAlign = "left";
  drawn.fillText(units[1], EDGE.left + 5, EDGE.top + 11);
  drawn.strokeStyle = colours["--s0"];
  drawn.lineWidth = 1.4;
  drawn.beginPath();
  xs.forEach((x, k) => (k ? drawn.lineTo(px(x), py(ys[k])) : drawn.moveTo(px(x), py(ys[k]))));
  drawn.stroke();
  drawn.fillStyle = colours["--s1"];
  drawn.beginPath();
  drawn.arc(px(xs.at(-1)), py(ys.at(-1)), 5, 0, 7);
  drawn.fill();
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
