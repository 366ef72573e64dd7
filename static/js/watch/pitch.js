// What drawings of games on half a pitch have in common: the lines, who plays, the ball, and what is said of it. The goal
// is on the right; places are in metres, x from the left line to the goal line, y downwards.

/** A half pitch: how long, half its width, half the goal's width and its depth, and areas (length, half width).
 * @typedef {{ length: number, half: number, post: number, depth: number, areas: number[][] }} Pitch */
/** @typedef {{ own: string, other: string, line: string, ball: string }} Ink */

const MARGIN = 0.5;

/** Clears the canvas, draws the lines, and says where a place is on it and how long a metre.
 * @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {Pitch} pitch @param {Ink} ink */
export function field(c, width, height, pitch, ink) {
  const scale = Math.min(width / (pitch.length + pitch.depth + 2 * MARGIN), height / (2 * (pitch.half + MARGIN)));
  const left = (width - scale * (pitch.length + pitch.depth)) / 2;
  const across = (/** @type {number} */ x) => left + x * scale;
  const down = (/** @type {number} */ y) => height / 2 + y * scale;
  c.clearRect(0, 0, width, height);
  c.strokeStyle = ink.line;
  c.lineWidth = 1.4;
  c.strokeRect(across(0), down(-pitch.half), pitch.length * scale, 2 * pitch.half * scale);
  for (const [long, half] of pitch.areas) {
    c.strokeRect(across(pitch.length - long), down(-half), long * scale, 2 * half * scale);
  }
  c.lineWidth = 3;
  c.strokeRect(across(pitch.length), down(-pitch.post), pitch.depth * scale, 2 * pitch.post * scale);
  return { across, down, scale };
}

/** The attacker, a disc, or the keeper, a square with a rim; a line shows where it looks, where that is known.
 * @param {CanvasRenderingContext2D} c @param {{ across: (x: number) => number, down: (y: number) => number }} at
 * @param {number[]} place @param {number} size @param {Ink} ink @param {{ goalkeeper?: boolean, body?: number }} who */
export function player(c, at, [x, y], size, ink, { goalkeeper = false, body }) {
  const [i, j] = [at.across(x), at.down(y)];
  c.fillStyle = goalkeeper ? ink.other : ink.own;
  c.strokeStyle = ink.ball;
  c.lineWidth = 1.5;
  c.beginPath();
  if (goalkeeper) c.rect(i - size, j - size, 2 * size, 2 * size);
  else c.arc(i, j, size, 0, 2 * Math.PI);
  c.fill();
  if (goalkeeper) c.stroke();
  if (body === undefined) return;
  c.beginPath();
  c.moveTo(i, j);
  c.lineTo(i + 1.8 * size * Math.cos(body), j + 1.8 * size * Math.sin(body));
  c.stroke();
}

/** @param {CanvasRenderingContext2D} c @param {{ across: (x: number) => number, down: (y: number) => number }} at
 * @param {number[]} place @param {number} size @param {Ink} ink */
export function ball(c, at, [x, y], size, ink) {
  c.fillStyle = ink.ball;
  c.beginPath();
  c.arc(at.across(x), at.down(y), size, 0, 2 * Math.PI);
  c.fill();
}

/** The colours of the page's theme.
 * @param {Element} element @returns {Ink} */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), other: of("--context-mark"), line: of("--control-edge"), ball: of("--ink") };
}

/** How far the ball is from the goal, in words.
 * @param {Pitch} pitch @param {number} x @param {number} y */
export function toGoal(pitch, x, y) {
  const [ahead, aside] = [Math.max(pitch.length - x, 0), Math.max(Math.abs(y) - pitch.post, 0)];
  return ahead + aside === 0 ? "goal" : `${Math.round(Math.hypot(ahead, aside))} m to the goal`;
}
