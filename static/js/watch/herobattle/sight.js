// What a commander observes of a battle, as `observe` of engine/games/herobattle/commanders/battles.py, and what a
// drawing needs of a moment, as commanders/moments.py.
import * as at from "./layout.js";
/** @import { Battle } from "./battle.js" */

const UNIT_NUMBERS = 14;
const SLOTS = [0, 1, 2, 3, 4, 6]; // of a team, those that hold a piece

/** What a side observes, as if it stood on the left: the time, then of itself and the other one 17 numbers, then its
 * own and the other's ten units; those that are missing or fell are zeros.
 * @param {Battle} battle @param {number} seat @returns {number[]} */
export function seen(battle, seat) {
  const both = [seat, 1 - seat];
  const numbers = [battle.tick / battle.parameters[at.TIME_LIMIT], ...both.flatMap((side) => ofSide(battle, side))];
  const sign = seat === 0 ? 1 : -1;
  for (const side of both) {
    for (let i = side * at.LANES; i < side * at.LANES + at.SIDE; i += 1) numbers.push(...ofUnit(battle, i, side, sign));
  }
  return numbers.map(Math.fround);
}

/** @param {Battle} battle @param {number} side @returns {number[]} */
function ofSide(battle, side) {
  const { tick, sides: { [side]: own } } = battle;
  const power = (/** @type {number} */ column) => battle.power(side, column);
  const trigger = Math.trunc(power(at.TRIGGER) + 0.5);
  return [
    battle.strength(side), own.alive / at.SIDE,
    Math.min(Math.max(own.ready - tick, 0) / Math.max(power(at.COOLDOWN), 1), 2),
    ...[0, 1, 2, 3].map((k) => Number(k === trigger)),
    Math.min((power(at.STRIKE) * own.blow) / 400, 2), power(at.STUN) / 10, power(at.SHIELD) / 50,
    power(at.WARD), power(at.RALLY), power(at.WEAKEN), power(at.SLOW), power(at.RADIUS) / 5,
    Math.max(own.blessed - tick, 0) / 20, Number(tick <= own.cursed),
  ];
}

/** @param {Battle} battle @param {number} i @param {number} side @param {number} sign @returns {number[]} */
function ofUnit({ tick, kinds, units, marks }, i, side, sign) {
  if (units[at.LIFE + i] <= 0) return new Array(UNIT_NUMBERS).fill(0);
  const base = at.kindAt(side, marks[at.KIND + i]);
  return [
    1, units[at.LIFE + i] / units[at.FULL + i], units[at.LIFE + i] / 200,
    (units[at.X + i] * sign) / 10, units[at.Y + i] / 10,
    Math.max(units[at.READY + i] - tick, 0) / units[at.WAIT + i], Math.max(units[at.STUNNED + i] - tick, 0) / 10,
    kinds[base + at.K_DAMAGE] / kinds[base + at.K_INTERVAL] / 4, kinds[base + at.K_RANGE] / 6, units[at.STEP + i],
    ...[0, 1, 2].map((k) => Number(kinds[base + at.K_CLASS] === k)),
    units[at.COVER + i] / 50,
  ];
}

/** A moment as drawings take it (watch/commanders.js).
 * @param {Battle} battle @returns {number[]} */
export function moment(battle) {
  const sides = battle.sides.flatMap(({ used, order }, side) => [battle.strength(side), used, ...order]);
  const units = battle.sides.flatMap(({ units: n }, side) =>
    Array.from({ length: at.SIDE }, (_, u) => (u < n ? shown(battle, side * at.LANES + u) : [-1, 0, 0, 0, -1])).flat(),
  );
  return [battle.tick, ...sides, ...units];
}

/** A unit: its kind, where it is, its share of life, and at whom of the twenty it strikes (-1: nobody in its reach).
 * @param {Battle} battle @param {number} i @returns {number[]} */
function shown(battle, i) {
  const { units, marks } = battle;
  const target = marks[at.TARGET + i];
  const strikes = units[at.LIFE + i] > 0 && units[at.LIFE + target] > 0 && battle.between(target, i) <= units[at.REACH2 + i];
  const whom = Math.trunc(target / at.LANES) * at.SIDE + (target % at.LANES);
  const life = Math.fround(units[at.LIFE + i] / units[at.FULL + i]);
  return [marks[at.KIND + i], units[at.X + i], units[at.Y + i], life, strikes ? whom : -1];
}

/** The names of hero, skill, two pieces of equipment, the first and the second soldiers ("": none) of both teams.
 * @param {number[][]} teams @param {string[]} names */
export const labels = (teams, names) => teams.flatMap((team) => SLOTS.map((slot) => (team[slot] < 0 ? "" : names[team[slot]])));
