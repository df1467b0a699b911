// The curves of a strip as pixels: how much of each column they cover. A path of as many lines, stroked anew in each
// frame, costs a page that paints without a graphics card ten times more. Columns stand in a ring, each at a place that
// its time says, so that a frame of a strip that goes on paints only those that have come.

export class Curve {
  constructor(colours, thick) {
    this.inks = colours.map((colour) => {
      const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
      return (blue << 16) | (green << 8) | red;
    });
    this.thick = thick; // pixels of the page
    this.key = "";
    this.end = 0; // number of the column after the newest one
    this.painted = 0; // of the newest one whose cycles had all come
  }

  // puts series of [times, values] on a part of a canvas, in place of what was there; null or NaN among values is a gap,
  // undefined a row of another series. Of one edition only newer values come
  paint({ context, left, top, width, height, ratio }, { x, y }, series, edition) {
    if (!(width > 0 && height > 0)) return;
    if (!(x.max > x.min && y.max > y.min)) return; // nothing has come yet
    const columnS = (x.max - x.min) / width;
    const end = Math.round(x.max / columnS);
    const key = [width, height, (x.max - x.min).toPrecision(9), y.min, y.max, ratio, edition].join();
    const goesOn = key === this.key && end >= this.end;
    if (this.ring?.width !== width || this.ring.height !== height) this.resize(width, height);
    this.fill(series, y, Math.max(end - width, goesOn ? this.painted - 1 : -Infinity), end, columnS, ratio);
    this.key = key;
    this.end = end;
    this.painted = Math.min(end, ...series.map(([xs, ys]) => Math.floor(newest(xs, ys) / columnS)));
    // the ring from its oldest column on: what is behind it, then what is before it
    const oldest = wrapped(end, width);
    context.putImageData(this.ring, left - oldest, top, oldest, 0, width - oldest, height);
    if (oldest) context.putImageData(this.ring, left + width - oldest, top, 0, 0, oldest, height);
  }

  resize(width, height) {
    this.ring = new ImageData(width, height);
    this.pixels = new Uint32Array(this.ring.data.buffer);
    this.low = new Float64Array(width);
    this.high = new Float64Array(width);
  }

  // paints columns, by their numbers
  fill(series, y, first, end, columnS, ratio) {
    const { ring, pixels } = this;
    const { width, height } = ring;
    const n = end - first;
    const begin = wrapped(first, width);
    const behind = Math.min(n, width - begin); // columns up to the right end of the ring
    for (let row = 0; row < height; row++) {
      pixels.fill(0, row * width + begin, row * width + begin + behind);
      pixels.fill(0, row * width, row * width + n - behind);
    }
    const half = 0.5 * this.thick * ratio;
    this.inks.forEach((ink, k) => {
      const low = this.low.subarray(0, n).fill(Infinity);
      const high = this.high.subarray(0, n).fill(-Infinity);
      cover(...series[k], y, first * columnS, 1 / columnS, height, low, high);
      for (let c = 0; c < n; c++) {
        const column = c < behind ? begin + c : c - behind;
        const from = Math.max(0, low[c] - half);
        const to = Math.min(height, high[c] + half);
        for (let row = Math.floor(from); row < to; row++) {
          const alpha = 255 * (Math.min(to, row + 1) - Math.max(from, row));
          const at = row * width + column;
          if (alpha >= pixels[at] >>> 24) pixels[at] = (alpha << 24) | ink;
        }
      }
    });
  }
}

let sheet = null; // for curves that lie over something else

// draws series over what is on a plot
export function paintOver({ ctx, bbox: { left, top, width, height }, scales }, curve, series, edition) {
  if (!(width > 0 && height > 0)) return;
  sheet ??= document.createElement("canvas");
  Object.assign(sheet, { width, height });
  const on = { context: sheet.getContext("2d"), left: 0, top: 0, width, height, ratio: window.devicePixelRatio || 1 };
  curve.paint(on, scales, series, edition);
  ctx.drawImage(sheet, left, top);
}

const wrapped = (number, width) => ((number % width) + width) % width;

// the rows that the lines between points go through, for each column from a time on
function cover(xs, ys, y, fromS, across, height, low, high) {
  const up = height / (y.max - y.min);
  let wasGap = true;
  let x0 = 0;
  let y0 = 0;
  let first = Math.max(0, before(xs, fromS) - 1);
  while (first > 0 && ys[first] === undefined) first -= 1;
  for (let k = first; k < xs.length; k++) {
    const value = ys[k];
    if (value === undefined) continue; // a row of another signal
    if (value === null || value !== value) {
      wasGap = true;
      continue;
    }
    const x1 = (xs[k] - fromS) * across;
    const y1 = (y.max - value) * up;
    const begin = wasGap ? x1 : x0;
    const slope = begin < x1 ? (y1 - y0) / (x1 - begin) : 0;
    for (let c = Math.max(0, Math.floor(begin)), end = Math.min(low.length - 1, Math.floor(x1)); c <= end; c++) {
      const enters = wasGap ? y1 : c <= begin ? y0 : y0 + (c - begin) * slope;
      const leaves = c + 1 >= x1 ? y1 : y0 + (c + 1 - begin) * slope;
      low[c] = Math.min(low[c], enters, leaves);
      high[c] = Math.max(high[c], enters, leaves);
    }
    wasGap = false;
    x0 = x1;
    y0 = y1;
  }
}

// the time of the last value, or of the last row where there is none
function newest(xs, ys) {
  for (let k = ys.length - 1; k >= 0; k--) if (ys[k] != null && ys[k] === ys[k]) return xs[k];
  return xs.length ? xs[xs.length - 1] : 0;
}

// number of times before one
function before(xs, atS) {
  let [low, high] = [0, xs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < atS) low = middle + 1;
    else high = middle;
  }
  return low;
}
