// What draws recorded battles, by the name that recordings say, and a moment of one on its canvas.
import * as atariPong from "./atari-pong.js";
import * as commanders from "./commanders.js";
import * as goal from "./goal.js";
import * as halfField from "./half-field.js";
import * as maze from "./maze.js";
import * as navigation from "./navigation.js";
import * as platform from "./platform.js";
import * as pong from "./pong.js";
import * as tanks from "./tanks.js";

/** All of a battle: what stays as it is, every row, the last one so far, and names; `far`: somebody wants to see the whole
 * field, where the eye goes nearer.
 * @typedef {{ scenery: number[][], rows: number[][], whole: number, labels: string[], far: boolean }} Scene */

/** What draws a game; `says`: what else there is to read of the moment before a row, a line each.
 * @typedef {{ between: typeof pong.between, points: typeof pong.points, colours: (element: Element) => any,
 * draw: (c: CanvasRenderingContext2D, width: number, height: number, row: number[], ink: any, scene: Scene) => void,
 * says?: (row: number[], labels: string[]) => string[] }} Drawing */

/** @type {Record<string, Drawing>} */
export const DRAWINGS = { "atari-pong": atariPong, commanders, goal, "half-field": halfField, maze, navigation, platform, pong, tanks };
export const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** What a battle shows at a moment; one that has ended stays as it ended, and who wants less motion sees none in between.
 * @param {Drawing} drawing @param {number[][]} rows @param {number} at */
export function rowAt(drawing, rows, at) {
  const whole = Math.min(Math.floor(at), rows.length - 1);
  if (whole >= rows.length - 1 || calm.matches) return rows[whole];
  return drawing.between(rows[whole], rows[whole + 1], rows[Math.max(0, whole - 1)], at - whole);
}

/** Draws a row on a canvas as large as the page shows it; false where it shows none of it.
 * @param {HTMLCanvasElement} canvas @param {Drawing} drawing @param {number[]} row @param {Scene} scene */
export function paint(canvas, drawing, row, scene) {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  const c = canvas.getContext("2d");
  if (!width || !c) return false;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawing.draw(c, width, height, row, drawing.colours(canvas), { ...scene, far: scene.far || calm.matches });
  return true;
}
