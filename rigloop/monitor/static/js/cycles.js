// Envelopes of signals over time: buckets one after the other, least, greatest and last value of each.
const ROWS = 3;
const SPARE = 2; // a buffer holds this many windows before it is moved

const NOTHING = new Float64Array(0);

let editions = 0;

// A row of a signal is one buffer of points, as a plot takes them: a window of it is a part of the buffer, and costs nothing.
class Grid {
  constructor(bucketNs, first, isSingle) {
    this.bucketNs = bucketNs;
    this.points = isSingle ? 1 : 2; // of a bucket: its only cycle, or its least and greatest value
    this.first = first;
    this.n = 0;
    this.room = 0;
    this.times = new Float64Array(0);
    this.rows = new Map();
  }

  get width() {
    return this.bucketNs * 1e-9;
  }

  get end() {
    return this.first + this.n;
  }

  row() {
    return { values: new Float64Array(this.points * this.room).fill(NaN), last: new Float64Array(this.room).fill(NaN) };
  }

  reserve(extra, keep) {
    if (this.n + extra <= this.room) return;
    const kept = Math.min(this.n, keep);
    const gone = this.n - kept;
    this.room = Math.max(SPARE * keep, kept + extra);
    for (const [path, { values, last }] of this.rows) {
      const moved = this.row();
      moved.values.set(values.subarray(this.points * gone, this.points * this.n));
      moved.last.set(last.subarray(gone, this.n));
      this.rows.set(path, moved);
    }
    this.first += gone;
    this.n = kept;
    // the least value stands at the begin of its bucket, the greatest in its middle
    this.times = Float64Array.from({ length: this.points * this.room }, (_, k) => (this.first + k / this.points) * this.width);
  }

  append(paths, numbers, n, keep) {
    this.reserve(n, keep);
    paths.forEach((path, k) => {
      if (!this.rows.has(path)) this.rows.set(path, this.row());
      const { values, last } = this.rows.get(path);
      const at = k * ROWS * n;
      if (this.points === 1) values.set(numbers.subarray(at, at + n), this.n);
      else {
        for (let b = 0, to = 2 * this.n; b < n; b++) {
          values[to++] = numbers[at + b];
          values[to++] = numbers[at + n + b];
        }
      }
      last.set(numbers.subarray(at + 2 * n, at + 3 * n), this.n);
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

  // [times, values] of a signal between two times: two points a bucket, or one where a bucket is one cycle; NaN is a gap
  points(path, fromS, toS) {
    const grid = this.grids.get(path);
    if (!grid) return [NOTHING, NOTHING];
    const begin = Math.max(0, Math.floor(fromS / grid.width) - grid.first);
    const end = Math.min(grid.n, Math.ceil(toS / grid.width) - grid.first + 1);
    if (end <= begin) return [NOTHING, NOTHING];
    return [grid.times, grid.rows.get(path).values].map((row) => row.subarray(grid.points * begin, grid.points * end));
  }

  value(path, atS) {
    const grid = this.grids.get(path);
    if (!grid || !grid.n) return NaN;
    const k = atS == null ? grid.n - 1 : Math.floor(atS / grid.width + 1e-6) - grid.first;
    return k >= 0 && k < grid.n ? grid.rows.get(path).last[k] : NaN;
  }
}
