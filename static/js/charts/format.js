// Numbers as the pages write them: "2.8×", "53 pts", "29 %", "(2.6 to 3.1)", "1,480".
const NBSP = "\u00a0";
/** @type {Record<string, string>} */
const UNITS = { points: "pts", point: "pts" };
/** @type {Intl.NumberFormat[]} */
const formats = [];
const ATTACHED = new Set(["×", "°", "′"]);

/** What a number needs to be written with its unit. @typedef {{ unit: string, digits: number }} Written */
/** The ends of a 95 % range. @typedef {[low: number, high: number]} Ends */

/** @param {string} unit */
export const shortUnit = (unit) => UNITS[unit] ?? unit;

/** @param {number} value @param {number} digits */
export function decimals(value, digits) {
  if (!Number.isFinite(value)) return "not known";
  const fixed = Math.abs(value) < 10 ** -digits / 2 ? 0 : value;
  formats[digits] ??= new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" });
  return formats[digits].format(fixed).replace("-", "−");
}

/** @param {number} value */
export const whole = (value) => decimals(value, 0);

/** Digits after the point that a number has, up to six.
 * @param {number} value */
export const places = (value) => (String(Number(value.toFixed(6))).split(".")[1] ?? "").length;

/** Where a line stands, with its unit: all of its digits, though lineups' values have fewer.
 * @param {number} line @param {Written} objective */
export const lineText = (line, objective) => withUnit(line, { ...objective, digits: Math.max(objective.digits, places(line)) });

/** The median baseline team's strength, {value, digits}, as exactly as its own range is worth: what is surely above it
 * reads as above it. Null where there is none.
 * @param {{ value: number, half?: number | null } | null} median
 * @param {number} digits
 * @returns {{ value: number, digits: number } | null} */
export function levelOf(median, digits) {
  if (!median) return null;
  const { value, half } = median;
  const worth = half ? Math.ceil(-Math.log10(half)) : half === 0 ? places(value) : 0;
  const shown = Math.min(6, Math.max(digits, worth));
  return { value: Number(value.toFixed(shown)), digits: shown };
}

/** A value of one objective with its unit.
 * @param {number} value @param {Written} objective */
export function withUnit(value, { unit, digits }) {
  const text = decimals(value, digits);
  if (!unit) return text;
  return ATTACHED.has(unit) ? text + unit : `${text}${NBSP}${shortUnit(unit)}`;
}

const FIGURES = 7; // that a value's 32 bits hold
const MOST = 12;
/** @param {number} value @param {number} digits */
const rounded = (value, digits) => Number(value.toFixed(digits));

/** Digits after the point, `digits` at least, by which `value` and the ends of its `range` read as they are: each on its
 * side of every one of `lines`, and the ends as two numbers. webapp/lib/figures.py counts alike.
 * @param {number} value @param {Ends | null} range @param {number} digits @param {number[]} [lines] */
export function telling(value, range, digits, lines = []) {
  const numbers = [value, ...(range ?? [])].filter(Number.isFinite);
  const tests = numbers.flatMap((n) => lines.map((line) => {
    const side = Math.fround(line) === n ? 0 : Math.sign(n - line);
    return kept((d) => Math.sign(rounded(n, d) - line) === side, digits, n, line);
  }));
  if (range && range[0] < range[1]) tests.push(kept((d) => rounded(range[0], d) < rounded(range[1], d), digits, ...range));
  for (let d = digits; d <= MOST; d += 1) if (tests.every((test) => test === null || test(d))) return d;
  return digits;
}

/** The test, where any number of digits passes that 32 bits hold of these numbers; else null.
 * @param {(digits: number) => boolean} test
 * @param {number} digits
 * @param {number[]} numbers
 * @returns {((digits: number) => boolean) | null} */
function kept(test, digits, ...numbers) {
  const size = Math.max(...numbers.map(Math.abs), 1e-9);
  const most = Math.min(MOST, Math.max(digits, FIGURES - 1 - Math.floor(Math.log10(size))));
  for (let d = digits; d <= most; d += 1) if (test(d)) return test;
  return null;
}

/** 1 where the typical range is so narrow that values and ranges are written with one more digit, else 0: as
 * webapp/lib/figures.py has it.
 * @param {(number | null)[]} halves @param {number} digits */
export function worthOneMore(halves, digits) {
  const known = halves.filter((half) => half !== null && Number.isFinite(half) && half > 0).map(Number).sort((a, b) => a - b);
  if (!known.length) return 0;
  const middle = (known[(known.length - 1) >> 1] + known[known.length >> 1]) / 2;
  return 10 ** -digits > middle / 2 ? 1 : 0;
}

/** A value with its unit, and its 95 % range, as every page writes them: {value: "2.04×", range: "1.94 to 2.12"}. Where
 * chance has no part the range is "exact"; without one it is empty. `lines`: what the value is told apart from.
 * @param {number} value @param {Ends | null} range @param {Written & { lines?: number[] }} how */
export function textsWithRange(value, range, { unit, digits, lines = [] }) {
  const shown = telling(value, range, digits, lines);
  const ends = range && (range[0] === range[1] ? "exact" : range.map((end) => decimals(end, shown)).join(" to "));
  return { value: withUnit(value, { unit, digits: shown }), plain: decimals(value, shown), range: ends ?? "" };
}

/** The range in brackets, or words when there are too few samples for one.
 * @param {string} range */
export const inBrackets = (range) => `(${range || "range not known"})`;

/** The ends of a range around a mean, which stop at the floor and cap of what is measured; null when it is not known.
 * @param {number} mean
 * @param {number | null} half
 * @param {(number | null | undefined)[]} limits
 * @returns {Ends | null} */
export function rangeAround(mean, half, [low, high]) {
  if (half === null || !Number.isFinite(half)) return null;
  return [Math.max(mean - half, low ?? -Infinity), Math.min(mean + half, high ?? Infinity)];
}

/** A share in [0, 1] as per cent, as `percent` in webapp/lib/words.py writes it: "6.5 %", "39 %"; never none or all where it
 * is neither. With `digits`, that many.
 * @param {number} share @param {number} [digits] */
export function percent(share, digits) {
  const value = 100 * share;
  const near = (value > 0 && value < 10) || (value > 99 && value < 100);
  const shown = digits ?? (near && !Number.isInteger(value) ? 1 : 0);
  const capped = value > 0 && value < 100 && shown ? Math.min(Math.max(value, 10 ** -shown), 100 - 10 ** -shown) : value;
  return `${decimals(capped, shown)}${NBSP}%`;
}

/** How far something is, in whole per cent that are over: all only once it is over.
 * @param {number} share */
export const progress = (share) => `${Math.floor(100 * share)}${NBSP}%`;

/** A share in [0, 1] and its 95 % range in equally many digits, as `share_text` in webapp/lib/figures.py writes them:
 * "1.2 % (0.7 to 1.7 %)".
 * @param {number} share @param {Ends} ends */
export function shareText(share, [low, high]) {
  const ends = /** @type {Ends} */ ([100 * low, 100 * high]);
  const digits = telling(100 * share, ends, worthOneMore([(ends[1] - ends[0]) / 2], 0));
  return `${percent(share, digits)} (${percent(low, digits).slice(0, -2)} to ${percent(high, digits)})`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function plural(count, one, many = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** A number somebody typed, with a decimal point or comma; null for nothing, NaN for what is no number.
 * @param {string} text @returns {number | null} */
export function typed(text) {
  const plain = text.trim().replace(/\s/g, "").replace("−", "-").replace(",", ".");
  return plain === "" ? null : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

/** A number as ``typed`` reads it: without separators of thousands.
 * @param {number} value @param {number} digits */
export const asTyped = (value, digits) => decimals(value, digits).replaceAll(",", "");

/** "Resource advantage (×)  → more unfair": an objective has this one name on every axis.
 * @param {{ title: string, unit: string, toward: string, direction: string }} axis */
export function axisTitle({ title, unit, toward, direction }) {
  const name = unit ? `${title} (${unit})` : title;
  return toward ? `${name}  ${direction === "max" ? "→" : "←"} ${toward}` : name;
}

const CHARACTER_PX = 6.5; // of the page's font at 12 px, on average
/** How many characters have room. @param {number} pixels @param {number} size */
const characters = (pixels, size) => Math.max(12, Math.floor((pixels * 12) / (size * CHARACTER_PX)));
/** A title in lines of at most about `pixels`: first parted before the arrow, then between words.
 * @param {string} text @param {number} pixels @param {number} [size] @returns {string[]} */
export function titleLines(text, pixels, size = 12) {
  const most = characters(pixels, size);
  if (text.length <= most) return [text];
  return text.split("  ").flatMap((part) => part.split(" ").reduce((/** @type {string[]} */ lines, word) => {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) return [...lines.slice(0, -1), `${last} ${word}`];
    return [...lines, word];
  }, []));
}

/** A title in `most` lines at most: what is left out, and the end of a word that is too long, becomes an ellipsis.
 * @param {string} text @param {number} pixels @param {number} most @param {number} [size] @returns {string[]} */
export function cutLines(text, pixels, most, size = 12) {
  const length = characters(pixels, size);
  const lines = titleLines(text, pixels, size);
  return lines.slice(0, most).map((line, i) => (line.length > length || (i === most - 1 && lines.length > most) ? `${line.slice(0, length - 2)} …` : line));
}

/** The 95 % Wilson interval of a share (Wilson 1927), as shares.
 * @param {number} count @param {number} total @param {number} [z] @returns {Ends} */
export function wilson(count, total, z = 1.959964) {
  const share = count / total;
  const d = 1 + (z * z) / total;
  const half = (z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total))) / d;
  const centre = (share + (z * z) / (2 * total)) / d;
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
