// Envelopes of signals over time: buckets one after the other, least, greatest and last value of each.
const ROWS = 3;
const SPARE = 2; // a buffer holds this many windows before it is moved

let editions = 0;

class Grid {
  constructor(bucketNs, first, isSingle) {
    this.bucketNs = bucketNs;
    this.isSingle = isSingle; // a bucket is one cycle
    this.times = { begin: -1, end: -1, x: [] };
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

  // the times of points, the same array for all signals of a frame
  timesOf(begin, end) {
    const { times } = this;
    if (times.begin !== this.first + begin || times.end !== this.first + end) {
      const a = this.isSingle ? 1 : 2;
      const x = new Array(a * (end - begin));
      for (let k = begin, at = 0; k < end; k++, at += a) {
        x[at] = (this.first + k) * this.width;
        if (a === 2) x[at + 1] = x[at] + this.width / 2;
      }
      this.times = { begin: this.first + begin, end: this.first + end, x };
    }
    return this.times.x;
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
    this.edition = ++editions; // another one: what came before is not what is here
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
        this.edition = ++editions;
        grid = new Grid(group.bucket_ns, group.first, group.single);
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

  // [times, values] of a signal between two times: two points a bucket, or one where a bucket is one cycle
  points(path, fromS, toS) {
    const grid = this.grids.get(path);
    if (!grid) return [[], []];
    const begin = Math.max(0, Math.floor(fromS / grid.width) - grid.first);
    const end = Math.min(grid.n, Math.ceil(toS / grid.width) - grid.first + 1);
    if (end <= begin) return [[], []];
    const [low, high] = grid.rows.get(path);
    const a = grid.isSingle ? 1 : 2;
    const y = new Array(a * (end - begin));
    for (let k = begin, at = 0; k < end; k++, at += a) {
      // a bucket without a cycle is a gap
      const isGap = Number.isNaN(low[k]);
      y[at] = isGap ? null : low[k];
      if (a === 2) y[at + 1] = isGap ? null : high[k];
    }
    return [grid.timesOf(begin, end), y];
  }

  value(path, atS) {
    const grid = this.grids.get(path);
    if (!grid || !grid.n) return NaN;
    const k = atS == null ? grid.n - 1 : Math.floor(atS / grid.width + 1e-6) - grid.first;
    return k >= 0 && k < grid.n ? grid.rows.get(path)[2][k] : NaN;
  }
}
