// Envelopes of signals over time: buckets one after the other, least, greatest and last value of each.
const ROWS = 3;
const SPARE = 2; // a buffer holds this many windows before it is moved

class Grid {
  constructor(bucketNs, first) {
    this.bucketNs = bucketNs;
    this.first = first;
    this.n = 0;
    this.room = 0;
    this.rows = new Map();
  }

  get width() {
    return this.bucketNs * 1e-9;
  }

  get end() {
    return this.first + this.n;
  }

  reserve(extra, keep) {
    if (this.n + extra <= this.room) return;
    const kept = Math.min(this.n, keep);
    this.room = Math.max(SPARE * keep, kept + extra);
    for (const [path, rows] of this.rows) {
      this.rows.set(path, rows.map((row) => {
        const moved = new Float64Array(this.room).fill(NaN);
        moved.set(row.subarray(this.n - kept, this.n));
        return moved;
      }));
    }
    this.first += this.n - kept;
    this.n = kept;
  }

  append(paths, numbers, n, keep) {
    this.reserve(n, keep);
    paths.forEach((path, k) => {
      let rows = this.rows.get(path);
      if (!rows) {
        rows = Array.from({ length: ROWS }, () => new Float64Array(this.room).fill(NaN));
        this.rows.set(path, rows);
      }
      rows.forEach((row, r) => row.set(numbers.subarray((k * ROWS + r) * n, (k * ROWS + r + 1) * n), this.n));
    });
    this.n += n;
  }
}

export class Cycles {
  constructor() {
    this.clear();
  }

  clear() {
    this.grids = new Map(); // of each signal
    this.nowS = 0;
  }

  // the groups of a frame, of which a span is kept, or all; true: time went on from where it was
  take(paths, groups, numbers, spanS) {
    let at = 0;
    let goesOn = true;
    for (const group of groups) {
      const names = group.signals.map((k) => paths[k]);
      const size = names.length * ROWS * group.n;
      let grid = this.grids.get(names[0]);
      if (!grid || grid.bucketNs !== group.bucket_ns || grid.end !== group.first) {
        goesOn = false;
        grid = new Grid(group.bucket_ns, group.first);
        for (const name of names) this.grids.set(name, grid);
        this.nowS = 0;
      }
      const keep = spanS ? Math.ceil((spanS * 1e9) / group.bucket_ns) + 2 : group.n;
      grid.append(names, numbers.subarray(at, at + size), group.n, keep);
      this.nowS = Math.max(this.nowS, grid.end * grid.width);
      at += size;
    }
    return goesOn;
  }

  // [times, values] of a signal between two times: two points a bucket, or one where a bucket is one value
  points(path, fromS, toS) {
    const grid = this.grids.get(path);
    if (!grid) return [[], []];
    const begin = Math.max(0, Math.floor(fromS / grid.width) - grid.first);
    const end = Math.min(grid.n, Math.ceil(toS / grid.width) - grid.first + 1);
    if (end <= begin) return [[], []];
    const [low, high, last] = grid.rows.get(path);
    const x = [];
    const y = [];
    for (let k = begin; k < end; k++) {
      const t = (grid.first + k) * grid.width;
      if (Number.isNaN(last[k]) && Number.isNaN(low[k])) {
        x.push(t);
        y.push(null); // a gap
      } else if (low[k] === high[k]) {
        x.push(t);
        y.push(last[k]);
      } else {
        x.push(t, t + grid.width / 2);
        y.push(low[k], high[k]);
      }
    }
    return [x, y];
  }

  value(path, atS) {
    const grid = this.grids.get(path);
    if (!grid || !grid.n) return NaN;
    const k = atS == null ? grid.n - 1 : Math.floor(atS / grid.width + 1e-6) - grid.first;
    return k >= 0 && k < grid.n ? grid.rows.get(path)[2][k] : NaN;
  }
}
