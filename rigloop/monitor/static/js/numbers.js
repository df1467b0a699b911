// Numbers as text.
export function number(value, digits = 5) {
  if (value == null || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(Math.max(size, 0.01))))));
}

// a number of an axis: no more places than it has
export const tick = (value, digits = 6) => (value == null ? "" : String(Number(value.toPrecision(digits))));
