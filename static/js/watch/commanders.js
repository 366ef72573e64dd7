// Draws a moment of a commanded battle. A row is the tick; for both sides the share of life left, the tick at which the
// skill was used last (0: not yet) and the order in force; for ten units of either side its kind (-1: there is none), x
// and y in paces, its share of life and whom of the twenty it strikes at (-1: nobody).

import { percent } from "../charts/format.js";

const SIDE_PARTS = 7;
const UNIT_PARTS = 5;
const UNITS = 20;
const HALF = UNITS / 2;
const FIRST = 1 + 2 * SIDE_PARTS;
const SHOWN = 10; // ticks: how long a skill is seen
const RIM = 1.4; // paces around what is drawn
const RADIUS = 0.28; // half a soldier
const FOCUS = ["whoever is nearest", "the hero", "whoever has least life left", "the most dangerous", "whoever reaches far", "the soldiers", "all at one enemy"];
const STANCE = ["advances", "holds", "steps back", "withdraws", "closes ranks"];
const STANCES = ["advance", "hold", "step back", "withdraw", "close ranks"];
const SKILL = ["used when it usually is", "held back", "used at once"];

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

/** How far from the middle anybody gets in a battle, across and down, and how many of its rows were looked at: one that
 * is being fought grows.
 * @type {WeakMap<number[][], { across: number, down: number, rows: number }>} */
const reached = new WeakMap();

/** @param {number[][]} rows */
function ends(rows) {
  const known = reached.get(rows) ?? { across: 0, down: 0, rows: 0 };
  for (const { kind, x, y } of rows.slice(known.rows).flatMap(units)) {
    if (kind < 0) continue;
    known.across = Math.max(known.across, Math.abs(x));
    known.down = Math.max(known.down, Math.abs(y));
  }
  known.rows = rows.length;
  reached.set(rows, known);
  return { across: known.across + RIM, down: known.down + RIM };
}

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {ReturnType<typeof colours>} ink @param {{ rows: number[][], labels: string[] }} scene */
export function draw(c, width, height, row, ink, { rows, labels }) {
  const { across, down } = ends(rows);
  const scale = Math.min(width / across, height / down) / 2;
  const size = (/** @type {number} */ kind) => Math.max(6, RADIUS * scale) * (kind === 0 ? 1.5 : 1);
  const place = (/** @type {Unit} */ unit) => ({ ...unit, x: width / 2 + unit.x * scale, y: height / 2 + unit.y * scale, radius: size(unit.kind) });
  const all = units(row).map(place);
  c.clearRect(0, 0, width, height);
  for (const unit of all) if (unit.life <= 0 && unit.kind >= 0) fallen(c, unit, ink);
  for (const unit of all) if (unit.life > 0 && unit.target >= 0) strike(c, unit, all[unit.target], ink);
  for (const unit of all) if (unit.life > 0) mark(c, unit, ink);
  for (const which of [0, 1]) skill(c, all[which * HALF], row[0] - side(row, which)[1], side(row, which)[1], labels[6 * which + 1], ink);
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

/** For some ticks after its use a skill is a ring around the hero, with its name.
 * @param {CanvasRenderingContext2D} c @param {Placed} hero @param {number} since @param {number} used @param {string} name
 * @param {{ own: string, other: string, ink: string }} ink */
function skill(c, hero, since, used, name, ink) {
  if (!used || since < 0 || since > SHOWN) return;
  c.globalAlpha = 1 - since / (1.25 * SHOWN);
  c.strokeStyle = hero.left ? ink.own : ink.other;
  c.lineWidth = 2;
  c.beginPath();
  c.arc(hero.x, hero.y, hero.radius + 6 + 2 * since, 0, 2 * Math.PI);
  c.stroke();
  c.fillStyle = ink.ink;
  c.font = "600 12px Inter, sans-serif";
  c.textAlign = hero.left ? "left" : "right";
  c.fillText(name, hero.x + (hero.left ? -12 : 12), hero.y - hero.radius - 2 * since - 12);
  c.globalAlpha = 1;
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), other: of("--context-mark"), ground: of("--surface"), faint: of("--control-edge"), ink: of("--ink") };
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
