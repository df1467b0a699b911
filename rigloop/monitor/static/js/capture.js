// A capture as it comes: for each task its times, for each signal its values or the least and greatest of each stretch.
export function captureOf(header, numbers) {
  const traces = [];
  const gaps = [];
  const rows = [];
  let skipped = 0;
  let cycles = 0;
  let at = numbers.byteOffset;
  for (const group of header.groups) {
    const { n } = group;
    const times = new Float64Array(numbers.buffer, at, n);
    at += 8 * n;
    for (const gap of group.gaps) {
      gaps.push({ from: gap.t_s, to: gap.t_s + ((gap.lost + gap.skipped + 1) * group.period_us) / 1e6, ...gap });
      skipped += gap.skipped;
    }
    const x = group.envelope ? doubled(times, header, group) : Array.from(times);
    for (const signal of group.signals) {
      const low = new Float32Array(numbers.buffer, at, n);
      at += 4 * n;
      let y;
      let high = low;
      if (group.envelope) {
        high = new Float32Array(numbers.buffer, at, n);
        at += 4 * n;
        y = new Array(2 * n);
        for (let k = 0; k < n; k++) {
          y[2 * k] = shown(low[k]);
          y[2 * k + 1] = shown(high[k]);
        }
      } else {
        y = new Array(n);
        for (let k = 0; k < n; k++) y[k] = shown(low[k]);
      }
      cycles += signal.measured.n;
      traces.push({ path: signal.path, unit: signal.unit === "1" ? "" : signal.unit, measured: signal.measured, times, low, high, ...broken(x, y, group) });
    }
    at += (-at % 8 + 8) % 8;
    if (group.signals.length) rows.push(`${group.signals[0].measured.n} cycles of ${group.task}`);
  }
  const [from, to] = header.view ?? header.extent ?? ends(traces);
  return { traces, gaps, rows, skipped, cycles, view: header.view ?? null, from, to };
}

// the value of a trace's newest cycle that is not after a time, or the middle of its stretch; NaN: there is none
export function valueAt({ times, low, high }, atS) {
  const k = after(times, atS) - 1;
  return k >= 0 ? (low[k] + high[k]) / 2 : NaN;
}

// number of times that are not after one
export function after(times, atS) {
  let [first, last] = [0, times.length];
  while (first < last) {
    const middle = (first + last) >> 1;
    if (times[middle] <= atS) first = middle + 1;
    else last = middle;
  }
  return first;
}

const shown = (value) => (Number.isNaN(value) ? null : value);

// the least value stands at the begin of its stretch, the greatest in its middle
function doubled(times, header, group) {
  const x = new Array(2 * times.length);
  for (let k = 0; k < times.length; k++) {
    const next = k + 1 < times.length ? times[k + 1] : times[k] + group.period_us * 1e-6;
    x[2 * k] = times[k];
    x[2 * k + 1] = (times[k] + next) / 2;
  }
  return x;
}

// no line goes over a gap; in full the gap is a point of its own already
function broken(x, y, group) {
  if (!group.envelope || !group.gaps.length) return { x, y };
  const xs = x.slice();
  const ys = y.slice();
  for (const gap of group.gaps) {
    const place = xs.findIndex((t) => t > gap.t_s + 1e-12);
    if (place < 0) continue;
    xs.splice(place, 0, (gap.t_s + xs[place]) / 2);
    ys.splice(place, 0, null);
  }
  return { x: xs, y: ys };
}

function ends(traces) {
  const all = traces.flatMap(({ x }) => [x[0], x.at(-1)]).filter(Number.isFinite);
  return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
}
