// Draws a moment of Pong. A row is the ball's x and y, the left and the right paddle's y (all from -1 to 1, y points
// up) and the points of both sides; the sizes are those of the game's rules.

const LINE = 0.92;
const HALF = 0.15;
const THICK = 0.03;
const BALL = 0.03;
const INSIDE = 0.94; // of a canvas that is no square, for its edge to have room
const JUMP = 0.2; // the ball is served: it is nowhere in between

/** Where everything is between two rows; `share`: how far from the first to the second.
 * @param {number[]} row @param {number[]} next @param {number[]} before @param {number} share @returns {number[]} */
export function between(row, next, before, share) {
  const mixed = row.map((value, i) => (i < 4 ? value + (next[i] - value) * share : value));
  if (Math.abs(next[0] - row[0]) > JUMP) {
    mixed[0] = row[0] + (row[0] - before[0]) * share; // it flies on, past the paddle
    mixed[1] = row[1] + (row[1] - before[1]) * share;
  }
  return mixed;
}

/** What the page's theme gives.
 * @typedef {{ own: string, other: string, ball: string, grid: string }} Ink */

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row @param {Ink} ink */
export const draw = (c, width, height, row, ink) => field(c, width, height, row, ink, HALF);

/** The same with paddles of another length; `half`: of half of it. Where the canvas is no square, as on a poster, the
 * field is smaller than it and has an edge, for nothing else would say where it ends.
 * @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row @param {Ink} ink
 * @param {number} half */
export function field(c, width, height, row, ink, half) {
  const [x, y, left, right] = row;
  const square = Math.abs(width - height) < 2; // sizes are rounded
  const scale = (Math.min(width, height) / 2) * (square ? 1 : INSIDE);
  const across = (/** @type {number} */ value) => width / 2 + value * scale;
  const down = (/** @type {number} */ value) => height / 2 - value * scale;
  c.clearRect(0, 0, width, height);
  c.strokeStyle = ink.grid;
  if (!square) c.strokeRect(across(-1), down(1), 2 * scale, 2 * scale);
  c.setLineDash([4, 6]);
  c.beginPath();
  c.moveTo(across(0), down(1));
  c.lineTo(across(0), down(-1));
  c.stroke();
  c.setLineDash([]);
  /** @type {(ink: string, x: number, y: number, halfX: number, halfY: number) => void} */
  const block = (fill, middleX, middleY, halfX, halfY) => {
    c.fillStyle = fill;
    c.fillRect(across(middleX - halfX), down(middleY + halfY), 2 * halfX * scale, 2 * halfY * scale);
  };
  block(ink.own, -LINE, left, THICK, half);
  block(ink.other, LINE, right, THICK, half);
  block(ink.ball, x, y, BALL, BALL);
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), other: of("--context-mark"), ball: of("--ink"), grid: of("--control-edge") };
}

/** The points of both sides in words.
 * @param {number[]} row */
export const points = (row) => `${row[4]} : ${row[5]}`;
