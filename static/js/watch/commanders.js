// Draws a moment of a commanded battle. A row is the tick; for both sides the share of life left, the tick at which the
// skill was used last (0: not yet) and the order in force; for ten units of either side its kind (-1: there is none), x
// and y in paces, its share of life and whom of the twenty it strikes at (-1: nobody).

import { percent } from "../charts/format.js";
import { Camera } from "./camera.js";

const NAME = 18; // pixels: how high a name stands
const SIDE_PARTS = 7;
const UNIT_PARTS = 5;
const UNITS = 20;
const HALF = UNITS / 2;
const FIRST = 1 + 2 * SIDE_PARTS;
const SHOWN = 10; // ticks: how long a skill is seen
const LINES = 5; // paces between the lines of the field
const RADIUS = 0.28; // half a soldier
const FOCUS = ["whoever is nearest", "the hero", "whoever has least life left", "the most dangerous", "whoever reaches far", "the soldiers", "all at one enemy"];
const STANCE = ["advances", "holds", "steps back", "withdraws", "closes ranks"];
const STANCES = ["advance", "hold", "step back", "withdraw", "close ranks"];
const SKILL = ["used as the script would use it", "held back", "used at once"];

/** @typedef {{ kind: number, x: number, y: number, life: number, target: number, left: boolean }} Unit */
/** @typedef {Unit & { radius: number }} Placed where it is on the canvas, in pixels */

/** @param {number[]} row @returns {Unit[]} */
const units = (row) =>
  Array.from({ length: UNITS }, (_, i) => {
    const [kind, x, y, life, target] = row.slice(FIRST + i * UNIT_PARTS, FIRST + (i + 1) * UNIT_PARTS);
    return { kind, x, y, life, target, left: i < HALF };
  });

/** @param {number[]} row @param {number} side */
export const side = (row, side) => row.slice(1 + side * SIDE_PARTS, 1 + (side + 1) * SIDE_PARTS);

/** Where everything is between two rows; what a side is told and whom a unit strikes at changes at once.
 * @param {number[]} row @param {number[]} next @param {number[]} _before @param {number} share @returns {number[]} */
export const between = (row, next, _before, share) =>
  row.map((value, i) => (moves(i) ? value + (next[i] - value) * share : value));

/** Whether a number of a row changes little by little: the tick, a side's life, a unit's place and life.
 * @param {number} i */
const moves = (i) =>
  i < FIRST ? i === 0 || (i - 1) % SIDE_PARTS === 0 : [1, 2, 3].includes((i - FIRST) % UNIT_PARTS);

/** What looks at each battle.
 * @type {WeakMap<number[][], Camera>} */
const cameras = new WeakMap();

/** Who is still standing; all, where nobody is.
 * @param {number[]} row */
function spots(row) {
  const all = units(row).filter(({ kind }) => kind >= 0);
  const standing = all.filter(({ life }) => life > 0);
  return standing.length ? standing : all;
}

/** @param {number[][]} rows @returns {Camera} */
function cameraOf(rows) {
  const known = cameras.get(rows) ?? new Camera(spots, rows.length > 1 ? Math.max(1, rows[1][0] - rows[0][0]) : 1);
  cameras.set(rows, known);
  known.follow(rows);
  return known;
}

/** What is seen of the field at a moment.
 * @param {number[]} row @param {Field} scene */
function seen(row, { rows, whole, far }) {
  const camera = cameraOf(rows);
  if (far) return camera.whole();
  const [now, next] = [rows[whole], rows[Math.min(whole + 1, rows.length - 1)]];
  return camera.view(whole + (row[0] - now[0]) / Math.max(1, next[0] - now[0]));
}

/** @typedef {{ rows: number[][], labels: string[], whole: number, far: boolean }} Field `far`: all of it is shown */

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {ReturnType<typeof colours>} ink @param {Field} scene */
export function draw(c, width, height, row, ink, scene) {
  const view = seen(row, { ...scene, whole: Math.min(scene.whole, scene.rows.length - 1) });
  const scale = Math.min(width / view.across, height / view.down) / 2;
  const across = (/** @type {number} */ x) => width / 2 + (x - view.x) * scale;
  const down = (/** @type {number} */ y) => height / 2 + (y - view.y) * scale;
  const size = (/** @type {number} */ kind) => Math.max(6, RADIUS * scale) * (kind === 0 ? 1.5 : 1);
  const all = units(row).map((unit) => ({ ...unit, x: across(unit.x), y: down(unit.y), radius: size(unit.kind) }));
  c.clearRect(0, 0, width, height);
  lines(c, width, height, { scale, left: across(0), top: down(0) }, ink);
  for (const unit of all) if (unit.life <= 0 && unit.kind >= 0) fallen(c, unit, ink);
  for (const unit of all) if (unit.life > 0 && unit.target >= 0) strike(c, unit, all[unit.target], ink);
  for (const unit of all) if (unit.life > 0) mark(c, unit, ink);
  const used = [0, 1].map((which) => ({ hero: all[which * HALF], since: row[0] - side(row, which)[1], at: side(row, which)[1], name: scene.labels[6 * which + 1] }));
  names(c, used.filter(({ at, since }) => at && since >= 0 && since <= SHOWN), { width, height }, ink);
}

/** The field is empty, so lines tell how the eye moves over it.
 * @param {CanvasRenderingContext2D} c @param {number} width @param {number} height
 * @param {{ scale: number, left: number, top: number }} from where the middle of the field is @param {{ line: string }} ink */
function lines(c, width, height, { scale, left, top }, ink) {
  const apart = LINES * scale;
  c.strokeStyle = ink.line;
  c.lineWidth = 1;
  c.beginPath();
  for (let x = left % apart; x < width; x += apart) {
    c.moveTo(x, 0);
    c.lineTo(x, height);
  }
  for (let y = top % apart; y < height; y += apart) {
    c.moveTo(0, y);
    c.lineTo(width, y);
  }
  c.stroke();
}

/** A circle on the left side, a square on the right.
 * @param {CanvasRenderingContext2D} c @param {Placed} unit @param {number} radius */
function outline(c, { x, y, left }, radius) {
  c.beginPath();
  if (left) c.arc(x, y, radius, 0, 2 * Math.PI);
  else c.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
}

/** A unit, as full as it has life; a hero has a second rim.
 * @param {CanvasRenderingContext2D} c @param {Placed} unit @param {{ own: string, other: string, ground: string }} ink */
function mark(c, unit, ink) {
  const { radius } = unit;
  c.fillStyle = ink.ground;
  c.strokeStyle = unit.left ? ink.own : ink.other;
  c.lineWidth = 1.5;
  outline(c, unit, radius);
  c.fill();
  c.save();
  c.clip();
  c.fillStyle = c.strokeStyle;
  c.fillRect(unit.x - radius, unit.y + radius - 2 * radius * unit.life, 2 * radius, 2 * radius);
  c.restore();
  outline(c, unit, radius);
  c.stroke();
  if (unit.kind !== 0) return;
  outline(c, unit, radius + 3);
  c.stroke();
}

/** @param {CanvasRenderingContext2D} c @param {Unit} unit @param {{ faint: string }} ink */
function fallen(c, { x, y }, ink) {
  c.strokeStyle = ink.faint;
  c.lineWidth = 1.5;
  c.beginPath();
  for (const slope of [-1, 1]) {
    c.moveTo(x - 3, y - 3 * slope);
    c.lineTo(x + 3, y + 3 * slope);
  }
  c.stroke();
}

/** A line to whom a unit strikes at.
 * @param {CanvasRenderingContext2D} c @param {Unit} unit @param {Unit} target @param {{ own: string, other: string }} ink */
function strike(c, unit, target, ink) {
  c.globalAlpha = 0.55;
  c.strokeStyle = unit.left ? ink.own : ink.other;
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(unit.x, unit.y);
  c.lineTo(target.x, target.y);
  c.stroke();
  c.globalAlpha = 1;
}

/** For some ticks after its use a skill is a ring around the hero, with its name. Names never lie on each other, nor
 * beyond the picture.
 * @param {CanvasRenderingContext2D} c @param {{ hero: Placed, since: number, name: string }[]} used
 * @param {{ width: number, height: number }} picture @param {{ own: string, other: string, ink: string, ground: string }} ink */
function names(c, used, picture, ink) {
  c.font = "600 12px Inter, sans-serif";
  c.textAlign = "left";
  /** @type {ReturnType<typeof placed>[]} */
  const boxes = [];
  for (const { hero, since, name } of used) {
    ring(c, hero, since, ink);
    boxes.push(placed(hero, c.measureText(name).width, picture, boxes));
  }
  used.forEach(({ since, name }, i) => {
    const { x, y, width } = boxes[i];
    c.globalAlpha = 1 - since / (2 * SHOWN);
    c.fillStyle = ink.ground;
    c.fillRect(x - 4, y, width + 8, NAME);
    c.fillStyle = ink.ink;
    c.fillText(name, x, y + NAME - 5);
  });
  c.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} c @param {Placed} hero @param {number} since @param {{ own: string, other: string }} ink */
function ring(c, hero, since, ink) {
  c.globalAlpha = 1 - since / (1.25 * SHOWN);
  c.strokeStyle = hero.left ? ink.own : ink.other;
  c.lineWidth = 2;
  c.beginPath();
  c.arc(hero.x, hero.y, hero.radius + 6 + 2 * since, 0, 2 * Math.PI);
  c.stroke();
  c.globalAlpha = 1;
}

/** Where a name stands: above a hero of the left side, below one of the right, and clear of another name.
 * @param {Placed} hero @param {number} width @param {{ width: number, height: number }} picture
 * @param {{ x: number, y: number, width: number }[]} others */
export function placed(hero, width, picture, others) {
  const x = Math.max(6, Math.min(picture.width - width - 6, hero.x - width / 2));
  const wanted = hero.left ? hero.y - hero.radius - NAME - 10 : hero.y + hero.radius + 10;
  let y = Math.max(2, Math.min(picture.height - NAME - 2, wanted));
  const on = others.find((other) => Math.abs(other.y - y) < NAME + 2 && x < other.x + other.width + 10 && other.x < x + width + 10);
  if (on) y = on.y + 2 * NAME + 4 < picture.height ? on.y + NAME + 2 : on.y - NAME - 2;
  return { x, y, width };
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), other: of("--context-mark"), ground: of("--surface"), faint: of("--control-edge"), ink: of("--ink"), line: of("--hairline") };
}

/** What both teams have left of their life.
 * @param {number[]} row */
export const points = (row) => `${percent(side(row, 0)[0], 0)} : ${percent(side(row, 1)[0], 0)}`;

/** What both sides are told to do, in a sentence each.
 * @param {number[]} row @param {string[]} labels */
export const says = (row, labels) =>
  [0, 1].map((which) => orderWords(side(row, which).slice(2), labels.slice(6 * which, 6 * which + 6)));

/** @param {number[]} order @param {string[]} labels */
function orderWords([focus, hero, first, second, use], [name, skillName, , , one, other]) {
  if (!(focus || hero || first || second || use)) return `${name}’s team fights by itself.`;
  const others = other ? [`${one} ${STANCES[first]}`, `${other} ${STANCES[second]}`] : [`${one} ${STANCES[first]}`];
  const aim = focus === 6 ? FOCUS[6] : `at ${FOCUS[focus]}`;
  return `${name}’s team strikes ${aim}. The hero ${STANCE[hero]}, ${others.join(", ")}. ${skillName} is ${SKILL[use]}.`;
}
