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
    this.canvas = document.createElement("canvas");
    this.key = "";
    this.end = 0; // number of the column after the newest one
    this.painted = 0; // of the newest one whose cycles had all come
  }

  // draws the series of a plot; null or NaN among their values is a gap, undefined a row of another series. Of one edition only newer values come
  paint(plot, edition) {
    const { left, top, width, height } = plot.bbox;
    if (!(width > 0 && height > 0)) return;
    const { x, y } = plot.scales;
    if (!(x.max > x.min && y.max > y.min)) return; // nothing has come yet
    const columnS = (x.max - x.min) / width;
    const end = Math.round(x.max / columnS);
    const key = [width, height, (x.max - x.min).toPrecision(9), y.min, y.max, window.devicePixelRatio, edition].join();
    const goesOn = key === this.key && end >= this.end;
    if (key !== this.key) this.resize(width, height);
    this.fill(plot, Math.max(end - width, goesOn ? this.painted - 1 : -Infinity), end, columnS);
    this.key = key;
    this.end = end;
    this.painted = Math.min(end, ...plot.data.slice(1).map((ys) => Math.floor(newest(plot.data[0], ys) / columnS)));
    // the ring from its oldest column on: what is behind it, then what is before it
    const oldest = wrapped(end, width);
    plot.ctx.drawImage(this.canvas, oldest, 0, width - oldest, height, left, top, width - oldest, height);
    if (oldest) plot.ctx.drawImage(this.canvas, 0, 0, oldest, height, left + width - oldest, top, oldest, height);
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
    this.drawn = this.canvas.getContext("2d");
    this.low = new Float64Array(width);
    this.high = new Float64Array(width);
  }

  // paints columns, by their numbers
  fill(plot, first, end, columnS) {
    const { width, height } = this.canvas;
    const n = end - first;
    const image = this.drawn.createImageData(n, height);
    const pixels = new Uint32Array(image.data.buffer);
    const half = 0.5 * this.thick * (window.devicePixelRatio || 1);
    this.inks.forEach((ink, k) => {
      const low = this.low.subarray(0, n).fill(Infinity);
      const high = this.high.subarray(0, n).fill(-Infinity);
      cover(plot, plot.data[k + 1], first * columnS, 1 / columnS, height, low, high);
      for (let c = 0; c < n; c++) {
        const from = Math.max(0, low[c] - half);
        const to = Math.min(height, high[c] + half);
        for (let row = Math.floor(from); row < to; row++) {
          const alpha = 255 * (Math.min(to, row + 1) - Math.max(from, row));
          const at = row * n + c;
          if (alpha >= pixels[at] >>> 24) pixels[at] = (alpha << 24) | ink;
        }
      }
    });
    const at = wrapped(first, width);
    this.drawn.putImageData(image, at, 0);
    if (at + n > width) this.drawn.putImageData(image, at - width, 0);
  }
}

const wrapped = (number, width) => ((number % width) + width) % width;

// the rows that the lines between points go through, for each column from a time on
function cover(plot, ys, fromS, across, height, low, high) {
  const xs = plot.data[0];
  const { y } = plot.scales;
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
