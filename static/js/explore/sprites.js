// Marks as small pictures for a canvas that draws them one by one: the verdict's mark, or the family's shape and colour.
import { FAMILIES } from "../marks.js";
import { drawable } from "./dom.js";
import { BEST, STRONG, UNDER, UNSURE } from "./lineups.js";
/** @import { Theme } from "../charts/theme.js" */
/** @import { Store } from "./store.js" */

const DIAMOND = "M8 1.2 14.8 8 8 14.8 1.2 8Z";
const DISC = "M8 1.2a6.8 6.8 0 1 1 0 13.6A6.8 6.8 0 0 1 8 1.2Z";
const RING = "M8 3.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6Z";
const DOT = 2.3; // radius of the dot in what is confirmed
const CROWD = 1500;
const BOX = 16; // the drawings' own box, of which they fill 13.6

/** A function from row to {canvas, size}, size in px. `many` marks are drawn smaller; what is `confirmed` at full size,
 * with a dot inside.
 * @param {Pick<Store, "state" | "lineups">} store @param {Theme} theme @param {{ ratio: number, many: number, confirmed: Set<number> }} how */
export function sprites({ state, lineups }, theme, { ratio, many, confirmed }) {
  /** @type {Map<number, { canvas: OffscreenCanvas, size: number }>} */
  const cache = new Map();
  /** @type {Record<number, string>} */
  const colours = { [UNDER]: theme.muted, [UNSURE]: theme["unsure-mark"], [STRONG]: theme.over, [BEST]: theme.accent };
  return (/** @type {number} */ row) => {
    const kind = lineups.kind[row];
    const number = state.colour === "family" && kind !== UNDER ? lineups.family[row] : -1;
    const sure = confirmed.has(row);
    const key = 2 * (number * 4 + kind) + Number(sure);
    const before = cache.get(key);
    if (before) return before;
    const path = number >= 0 ? (FAMILIES[number - 1] ?? RING) : kind === BEST || kind === UNDER ? DISC : DIAMOND;
    const colour = number >= 0 ? (theme.family[number - 1] ?? theme.muted) : colours[kind];
    const size = many > CROWD && !sure ? 6.5 : 9;
    const made = sprite(path, colour, { size, ratio, dot: sure, edge: theme.surface, open: kind === UNSURE || number === 0 });
    cache.set(key, made);
    return made;
  };
}

/** @param {string} path
 * @param {string} colour
 * @param {{ size: number, ratio: number, dot: boolean, edge: string, open: boolean }} how */
function sprite(path, colour, { size, ratio, dot, edge, open }) {
  const shown = ((size + 3) * BOX) / 13.6;
  const canvas = new OffscreenCanvas(Math.ceil(shown * ratio), Math.ceil(shown * ratio));
  const c = drawable(canvas.getContext("2d"));
  const unit = (size * ratio) / 13.6;
  c.translate(canvas.width / 2 - 8 * unit, canvas.height / 2 - 8 * unit);
  c.scale(unit, unit);
  const shape = new Path2D(path);
  c.lineJoin = "round";
  c.lineWidth = (1.2 * ratio) / unit;
  c.strokeStyle = open ? colour : edge;
  c.stroke(shape);
  if (!open) {
    c.fillStyle = colour;
    c.fill(shape);
  }
  if (dot) {
    c.fillStyle = open ? colour : edge;
    c.beginPath();
    c.arc(8, 8, DOT, 0, 2 * Math.PI);
    c.fill();
  }
  return { canvas, size: canvas.width / ratio };
}
