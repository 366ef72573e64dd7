// Draws a moment of the maze. A row is the row and the column of the player and the cells that it has entered; the
// scenery is the map, 1 where there is a wall. The entrance is in the upper left corner, the goal in the lower right one.

/** Where the player is between two rows; `share`: how far from the first to the second.
 * @param {number[]} row @param {number[]} next @param {number[]} _before @param {number} share @returns {number[]} */
export const between = (row, next, _before, share) =>
  row.map((value, i) => (i < 2 ? value + (next[i] - value) * share : value));

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {{ own: string, floor: string, wall: string, trail: string, goal: string }} ink
 * @param {{ scenery: number[][], rows: number[][], whole: number }} scene */
export function draw(c, width, height, row, ink, { scenery: walls, rows, whole }) {
  const size = Math.min(width, height) / walls.length;
  const left = (width - size * walls.length) / 2;
  const top = (height - size * walls.length) / 2;
  /** @type {(fill: string, down: number, across: number, share: number) => void} */
  const cell = (fill, down, across, share) => {
    const rim = (size * (1 - share)) / 2;
    c.fillStyle = fill;
    c.fillRect(left + across * size + rim, top + down * size + rim, size * share, size * share);
  };
  c.clearRect(0, 0, width, height);
  c.fillStyle = ink.floor;
  c.fillRect(left, top, size * walls.length, size * walls.length);
  walls.forEach((line, down) => line.forEach((wall, across) => wall && cell(ink.wall, down, across, 1.02)));
  for (const [down, across] of rows.slice(0, whole + 1)) cell(ink.trail, down, across, 0.4);
  cell(ink.goal, walls.length - 2, walls.length - 2, 0.9);
  cell(ink.floor, walls.length - 2, walls.length - 2, 0.45);
  cell(ink.own, row[0], row[1], 0.9);
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), floor: of("--floor"), wall: of("--wall"), trail: of("--accent"), goal: of("--ink") };
}

/** How much was seen, in words.
 * @param {number[]} row */
export const points = (row) => `${row[2]} ${row[2] === 1 ? "cell" : "cells"} entered`;
