// The design's tokens for what is drawn on canvases and by Plotly; read again when light changes to dark.
const NAMES = [
  "surface", "sunken", "ink", "muted", "hairline", "control-edge", "accent", "over", "unsure-mark", "context-mark", "grid",
];

export function tokens() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const found = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  found.family = Array.from({ length: 8 }, (_, i) => read(`family-${i + 1}`));
  found.tint = parseFloat(read("problem-tint")) / 100;
  found.font = style.getPropertyValue("--bs-font-sans-serif").trim();
  return found;
}

/** The three bytes of "#rrggbb". */
export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** "#rrggbb" with an opacity, as CSS. */
export const faded = (hex, opacity) => `rgba(${rgb(hex).join(", ")}, ${opacity})`;
