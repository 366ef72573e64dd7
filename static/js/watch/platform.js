// Draws a moment of Platform. A row is x and y of the player and x of both enemies, in pixels and y upwards, at moments of
// the last decision; the sizes are those of the game's rules.
import { along, moments } from "./path.js";

const EACH = 4;
const PLATFORMS = [[0, 250], [475, 275], [985, 50]]; // prettier-ignore
const END = 1035;
const [HEIGHT, WIDE, TALL, TOP] = [40, 20, 30, 140];

export const between = along(EACH);

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {{ own: string, other: string, ground: string, trail: string }} ink */
export function draw(c, width, height, row, ink) {
  const scale = Math.min(width / (END + WIDE), height / TOP);
  const left = (width - scale * (END + WIDE)) / 2;
  const bottom = height / 2 + (TOP * scale) / 2;
  /** @type {(fill: string, x: number, y: number, wide: number, tall: number) => void} */
  const box = (fill, x, y, wide, tall) => {
    c.fillStyle = fill;
    c.fillRect(left + x * scale, bottom - (y + tall) * scale, wide * scale, tall * scale);
  };
  c.clearRect(0, 0, width, height);
  for (const [x, wide] of PLATFORMS) box(ink.ground, x, 0, wide, HEIGHT);
  const way = moments(row, EACH);
  for (const [x, y] of way) box(ink.trail, x + WIDE / 2 - 1.5, y + TALL / 2 - 1.5, 3, 3);
  const [x, y, ...enemies] = way[way.length - 1];
  for (const enemy of enemies) {
    c.beginPath();
    c.arc(left + (enemy + WIDE / 2) * scale, bottom - (HEIGHT + TALL / 2) * scale, (WIDE / 2) * scale, 0, 2 * Math.PI);
    c.fillStyle = ink.other;
    c.fill();
  }
  box(ink.own, x, y, WIDE, TALL);
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), other: of("--ink"), ground: of("--control-edge"), trail: of("--context-mark") };
}

/** How far the player has come, in words.
 * @param {number[]} row */
export const points = (row) => `${Math.round((100 * row[row.length - EACH]) / END)} % of the way`;
