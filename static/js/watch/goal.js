// Draws a moment of Goal. A row is x and y of player, keeper and ball, in metres and y upwards, at moments of the last
// decision; the sizes are those of the game's rules.
import { along, moments } from "./path.js";
import { ball, colours, field, player, toGoal } from "./pitch.js";

export { colours };

const PITCH = { length: 20, half: 15, post: 7.01, depth: 2.44, areas: [[5.5, 9.16]] };
const EACH = 6;
const [BODY, DOT, TRAIL] = [0.9, 0.4, 0.12]; // metres

export const between = along(EACH);

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {import("./pitch.js").Ink} ink */
export function draw(c, width, height, row, ink) {
  const at = field(c, width, height, PITCH, ink);
  const way = moments(row, EACH);
  for (const moment of way) ball(c, at, [moment[4], -moment[5]], TRAIL * at.scale, ink);
  const [x, y, goalkeeperX, goalkeeperY, ballX, ballY] = way[way.length - 1];
  player(c, at, [goalkeeperX, -goalkeeperY], BODY * at.scale, ink, { goalkeeper: true });
  player(c, at, [x, -y], BODY * at.scale, ink, {});
  ball(c, at, [ballX, -ballY], DOT * at.scale, ink);
}

/** @param {number[]} row */
export const points = (row) => toGoal(PITCH, row[row.length - 2], row[row.length - 1]);
