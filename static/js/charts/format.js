// Numbers as the pages write them: "2.8×", "53 pts", "29 %", "(2.6 to 3.1)", "1,480".
const NBSP = "\u00a0";
const UNITS = { points: "pts", point: "pts" };
const formats = [];
const ATTACHED = new Set(["×", "°", "′"]);

export const shortUnit = (unit) => UNITS[unit] ?? unit;

export function decimals(value, digits) {
  if (!Number.isFinite(value)) return "not known";
  const fixed = Math.abs(value) < 10 ** -digits / 2 ? 0 : value;
  formats[digits] ??= new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return formats[digits].format(fixed).replace("-", "−");
}

export const whole = (value) => decimals(value, 0);

/** A value of one objective with its unit. */
export function withUnit(value, { unit, digits }) {
  const text = decimals(value, digits);
  if (!unit) return text;
  return ATTACHED.has(unit) ? text + unit : `${text}${NBSP}${shortUnit(unit)}`;
}

/** "(2.6 to 3.1)", or words when there are too few samples for a range. */
export function rangeText(range, { digits }) {
  return range ? `(${decimals(range[0], digits)} to ${decimals(range[1], digits)})` : "(range not known)";
}

/** Half a range as "±" writes it: never as 0, which no range is, but as the least that the digits can say. */
export const halfText = (half, { digits }) => decimals(Math.max(half, 10 ** -digits), digits);

export function plural(count, one, many = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** A number somebody typed, with a decimal point or comma; null for nothing, NaN for what is no number. */
export function typed(text) {
  const plain = text.trim().replace(/\s/g, "").replace("−", "-").replace(",", ".");
  return plain === "" ? null : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

/** A number as ``typed`` reads it: without separators of thousands. */
export const asTyped = (value, digits) => decimals(value, digits).replaceAll(",", "");

/** The short name of an objective as a word: "Weakest". */
export const shortTitle = ({ name }) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** "Resource advantage (×) → more unfair"; with the short name where there is little room. */
export function axisTitle(objective, wide) {
  const { title, unit, toward, direction } = objective;
  const words = wide ? title : shortTitle(objective);
  const name = unit ? `${words} (${wide ? unit : shortUnit(unit)})` : words;
  if (!toward) return name;
  return direction === "max" ? `${name}  → ${toward}` : `${name}  ← ${toward}`;
}
