// The design's tokens for what is drawn on canvases and by Plotly; read again when light changes to dark.
const NAMES = /** @type {const} */ ([
  "surface", "sunken", "ink", "muted", "hairline", "control-edge", "accent", "over", "unsure-mark", "context-mark", "grid",
]);

/** A colour for each name; `family`: of families 1 to 8; `tint`: how opaque the corner of problems is.
 * @typedef {Record<(typeof NAMES)[number], string> & { family: string[], tint: number, font: string }} Theme */

/** @returns {Theme} */
export function tokens() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = /** @type {Record<(typeof NAMES)[number], string>} */ (Object.fromEntries(NAMES.map((name) => [name, read(name)])));
  return {
    ...colours,
    family: Array.from({ length: 8 }, (_, i) => read(`family-${i + 1}`)),
    tint: parseFloat(read("problem-tint")) / 100,
    font: style.getPropertyValue("--bs-font-sans-serif").trim(),
  };
}

/** The three bytes of "#rrggbb".
 * @param {string} hex */
export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** "#rrggbb" with an opacity, as CSS.
 * @param {string} hex @param {number} opacity */
export const faded = (hex, opacity) => `rgba(${rgb(hex).join(", ")}, ${opacity})`;
