// The marks that pages draw themselves: the same shapes as the template tags of webapp/projects/templatetags/equipoise.py.
const SVG = "http://www.w3.org/2000/svg";
const DIAMOND = "M8 1.2 14.8 8 8 14.8 1.2 8Z";
/** @type {Record<string, string>} */
const VERDICTS = {
  strong: DIAMOND,
  unsure: "M8 2.2 13.8 8 8 13.8 2.2 8Z",
  under: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6Z",
  fair: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2Z",
};
export const FAMILIES = [
  "M8 1.6a6.4 6.4 0 1 1 0 12.8A6.4 6.4 0 0 1 8 1.6Z",
  "M2.4 2.4h11.2v11.2H2.4Z",
  "M8 1.6 15 14H1Z",
  "M5.6 1.4h4.8v4.2h4.2v4.8h-4.2v4.2H5.6v-4.2H1.4V5.6h4.2Z",
  "M4.4 1.8h7.2L15.2 8l-3.6 6.2H4.4L.8 8Z",
  "M8 14.4 1 2h14Z",
  "M2 1.6h12L9.6 8l4.4 6.4H2L6.4 8Z",
  "M8 .8l2.1 4.7 5.1.6-3.8 3.4 1 5L8 12l-4.4 2.5 1-5L.8 6.1l5.1-.6Z",
];
const OTHER_FAMILY = "M8 3.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6Z";

/** @param {string} name @param {Record<string, string | number>} attributes @param {Node[]} children */
function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** @param {string} label @returns {Record<string, string>} */
const naming = (label) => (label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" });

/** @param {string} css @param {string} path @param {string} label */
function drawing(css, path, label) {
  return element("svg", { class: css, viewBox: "0 0 16 16", ...naming(label) }, element("path", { d: path }));
}

/** A verdict mark: "strong", "unsure", "under" or "fair".
 * @param {string} kind @param {string} [label] */
export const mark = (kind, label = "") => drawing(`vm vm-${kind}`, VERDICTS[kind], label);

/** The shape of family 1 to 8; any other number is the ring of "other".
 * @param {number} number @param {string} [label] */
export function family(number, label = "") {
  const path = FAMILIES[number - 1];
  return drawing(`fam fam-${path ? number : "other"}`, path ?? OTHER_FAMILY, label);
}

/** A value with its 95 % range between the ends of an axis; `line` is the dashed tick, `kind` a verdict or "". A range that goes
 * on beyond the axis has no cap there.
 * @param {{ value: number, low: number, high: number, axis: number[], line?: number | null, kind?: string, label?: string }} bar */
export function rangeBar({ value, low, high, axis: [from, to], line = null, kind = "", label = "" }) {
  /** @param {number} number */
  const at = (number) => `${(100 * Math.min(1, Math.max(0, (number - from) / (to - from || 1)))).toFixed(2)}%`;
  /** @param {string} css @param {number} x @param {number} y1 @param {number} y2 */
  const vertical = (css, x, y1, y2) => element("line", { class: css, x1: at(x), x2: at(x), y1, y2 });
  const diamond = kind === "strong" || kind === "unsure";
  const point = diamond ? "M0-5.2 5.2 0 0 5.2-5.2 0Z" : "M0-4a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z";
  return element(
    "svg",
    { class: `range-bar range-bar-${kind || "plain"}`, ...naming(label) },
    element("line", { class: "track", x1: "0", x2: "100%", y1: 10, y2: 10 }),
    ...(line === null ? [] : [vertical("line", line, 1, 19)]),
    element("line", { class: "whisker", x1: at(low), x2: at(high), y1: 10, y2: 10 }),
    ...[low, high].filter((end) => end >= from && end <= to).map((end) => vertical("whisker", end, 6.5, 13.5)),
    element("svg", { x: at(value), y: 10, overflow: "visible" }, element("path", { class: "point", d: point })),
  );
}
