// Draws a moment of Atari's Pong: rows as in pong.js, the agent on the left although it sits on the console's right.
import * as pong from "./pong.js";

export { between, colours, points } from "./pong.js";

const HALF = 0.1; // of a paddle: 8 of the 80 points from the middle to the rim

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row @param {pong.Ink} ink */
export const draw = (c, width, height, row, ink) => pong.field(c, width, height, row, ink, HALF);
