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
  if (node.textContent !== text) node.textContent = text;
};

export function number(value, digits = 5) {
  if (value == null || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(Math.max(size, 0.01))))));
}

// a number of an axis: no more places than it has
export const tick = (value, digits = 6) => (value == null ? "" : String(Number(value.toPrecision(digits))));

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// a canvas with as many pixels as the screen has under it
export function sharp(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const drawn = canvas.getContext("2d");
  drawn.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawn.clearRect(0, 0, width, height);
  return { drawn, width, height };
}
