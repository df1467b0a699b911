// Vertical scales: as wide as the values need, or as a person has set them, at the axis of a plot or at a name.

const FINER = 1.25;
const SHIFT = 0.1; // of the range, by a key
const HOLD = 0.5; // of the range: values that need less than this have it made smaller
const MOST = 100; // that a layout keeps
const HELP = "Offset: drag, arrow keys. Scale: + and −, and the wheel after a click. Automatic: double click, Home.";

export class Scales {
  // changed is called when a scale is another one, with the path of its signal
  constructor(changed) {
    this.changed = changed;
    this.chosen = new Map();
  }

  // those of a layout
  show(chosen) {
    this.chosen = new Map(Object.entries(chosen ?? {}).filter(([, [min, max]]) => max > min));
  }

  kept() {
    return Object.fromEntries([...this.chosen].slice(-MOST));
  }

  // [min, max] of a plot whose values are between two numbers, or of one without values
  range(path, low, high) {
    return this.chosen.get(path) ?? around(low, high);
  }

  set(path, range) {
    if (!range) this.chosen.delete(path);
    else if (range[1] - range[0] > 1e-12 * Math.max(Math.abs(range[0]), Math.abs(range[1])) && range.every(Number.isFinite)) this.chosen.set(path, range);
    this.changed(path);
  }

  // has a person set the scale of a signal at a node; shown gives its [min, max] of now, over so many pixels of the page
  watch(node, path, shown, height) {
    node.tabIndex = 0;
    node.title = HELP;
    node.classList.add("scale");
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", `scale of ${path}. ${HELP}`);
    // around a part of the range that stays where it is, 0 at its top
    const scale = (factor, part) => {
      const [min, max] = shown();
      const at = max - part * (max - min);
      this.set(path, [at - (at - min) * factor, at + (max - at) * factor]);
    };
    const shift = (part) => {
      const [min, max] = shown();
      this.set(path, [min + part * (max - min), max + part * (max - min)]);
    };
    let held = null;
    node.addEventListener("wheel", (event) => {
      // whoever scrolls over it did not mean it
      if (document.activeElement !== node) return;
      event.preventDefault();
      const box = node.getBoundingClientRect();
      scale(Math.exp(event.deltaY * 0.001), box.height > 0.9 * height() ? (event.clientY - box.top) / box.height : 0.5);
    }, { passive: false });
    node.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || (event.pointerType === "touch" && document.activeElement !== node)) return;
      held = event.clientY;
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (held == null || event.clientY === held) return;
      shift((event.clientY - held) / height());
      held = event.clientY;
    });
    for (const kind of ["pointerup", "pointercancel"]) node.addEventListener(kind, () => { held = null; });
    node.addEventListener("dblclick", () => this.set(path, null));
    node.addEventListener("keydown", (event) => {
      const done = {
        ArrowUp: () => shift(-SHIFT), ArrowDown: () => shift(SHIFT), "+": () => scale(1 / FINER, 0.5), "-": () => scale(FINER, 0.5), Home: () => this.set(path, null),
      }[event.key];
      if (!done || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      done();
    });
  }
}

// the automatic scale of values
export const around = (low, high) => (low <= high && low != null ? window.uPlot.rangeNum(low, high, 0.1, true) : [-1, 1]);

// the range that a plot shows: the one it had, while the values are within it and need a good part of it
export function settled(had, needed) {
  if (!had || needed[0] < had[0] || needed[1] > had[1] || needed[1] - needed[0] < HOLD * (had[1] - had[0])) return needed;
  return had;
}
