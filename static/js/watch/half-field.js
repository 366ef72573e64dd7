// Draws a moment of half-field offence. A row is x, y and body of the attacker and of the keeper, x and y of the ball, in
// metres and radians, and whether there is a keeper; the sizes are those of the game's rules.
import { ball, colours, field, player, toGoal } from "./pitch.js";

export { colours };

const PITCH = { length: 52.5, half: 34, post: 7.01, depth: 2.44, areas: [[16.5, 20.16], [5.5, 9.16]] }; // prettier-ignore
const BODIES = [2, 5];
const [GOALKEEPER, BALL, KEPT] = [3, 6, 8];
const [BODY, DOT] = [1.2, 0.6]; // metres: larger than they are

/** Where everything is between two rows; `share`: how far from the first to the second.
 * @param {number[]} row @param {number[]} next @param {number[]} _before @param {number} share @returns {number[]} */
export function between(row, next, _before, share) {
  return row.map((value, i) => {
    const way = next[i] - value;
    return value + share * (BODIES.includes(i) ? Math.atan2(Math.sin(way), Math.cos(way)) : way);
  });
}

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {import("./pitch.js").Ink} ink */
export function draw(c, width, height, row, ink) {
  const at = field(c, width, height, PITCH, ink);
  if (row[KEPT]) player(c, at, row.slice(GOALKEEPER), BODY * at.scale, ink, { goalkeeper: true, body: row[BODIES[1]] });
  player(c, at, row, BODY * at.scale, ink, { body: row[BODIES[0]] });
  ball(c, at, row.slice(BALL), DOT * at.scale, ink);
}

/** @param {number[]} row */
export const points = (row) => toGoal(PITCH, row[BALL], row[BALL + 1]);
