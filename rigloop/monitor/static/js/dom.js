// Elements by their id, and elements that are made: names of others become text, never markup.
export const $ = (id) => document.getElementById(id);

export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (key === "text") made.textContent = value;
    else if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export const setText = (node, text) => {
  const only = node.childNodes.length === 1 ? node.firstChild : null;
  if (only?.nodeType !== Node.TEXT_NODE) node.textContent = text;
  else if (only.data !== String(text)) only.data = text;
};

// rows of a table, each of [tag, class, text]; elements that are there already stay
export function fillRows(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, r) => {
    const row = body.rows[r] ?? body.insertRow();
    cells.forEach(([tag, kind, text], c) => {
      let cell = row.cells[c];
      if (cell?.localName !== tag) {
        const made = el(tag);
        if (cell) cell.replaceWith(made);
        else row.append(made);
        cell = made;
      }
      if (cell.className !== kind) cell.className = kind;
      setText(cell, text);
    });
  });
}

// colours of the theme, by their names in the style sheet; to ask for one has the page compute its styles
const known = new Map();

export function colour(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}

export const forgetColours = () => known.clear();

const COLOURS = ["--ink", "--soft", "--line", "--s0", "--s1", "--s2", "--s3", "--s4", "--s5"];

// those that pictures in space and of one signal over another take
export const colours = () => Object.fromEntries(COLOURS.map((name) => [name, colour(name)]));

// sizes of elements: to ask the page for one in each frame lays it out
const sizes = new WeakMap();
const resized = new ResizeObserver((changes) => changes.forEach(({ target, contentRect: { width, height } }) => sizes.set(target, { width, height })));

export function sizeOf(node) {
  if (!sizes.has(node)) {
    sizes.set(node, { width: node.clientWidth, height: node.clientHeight });
    resized.observe(node);
  }
  return sizes.get(node);
}

// a canvas with as many pixels as the screen has under it
export function sharp(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = sizeOf(canvas);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const drawn = canvas.getContext("2d");
  drawn.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawn.clearRect(0, 0, width, height);
  return { drawn, width, height };
}
