// Teams drawn by lot, as engine/games/herobattle/teams.py draws them.
import { combine, draw } from "../splitmix.js";
import { COST } from "./layout.js";

/** The game's numbers, from the server: a row of columns for each piece (layout.js) with its name, the parameters, the
 * first piece and how many there are of heroes, skills, equipment and soldiers, the most soldiers of a kind, and within
 * which budget and number of soldiers a team stays.
 * @typedef {{ pieces: number[][], names: string[], parameters: number[], groups: number[][], most: number,
 * budget: number[], soldiers: number[] }} Tables */

/** A team: hero, skill, two pieces of equipment, the first soldiers and how many, the second (-1: none) and how many.
 * @typedef {number[]} Team */

/** @param {bigint} key @param {number} turn @param {number} event @param {number} size */
const pick = (key, turn, event, size) => Math.trunc(draw(key, turn, event) * size);

/** @param {bigint} key @param {number} turn @param {Tables} tables @returns {Team} */
function proposed(key, turn, { groups: [heroes, skills, equipment, soldiers], most }) {
  const two = (/** @type {number[]} */ [first, size], /** @type {number} */ event) => {
    const one = pick(key, turn, event, size);
    const other = pick(key, turn, event + 1, size - 1);
    return [first + one, first + other + (other >= one ? 1 : 0)];
  };
  const second = pick(key, turn, 7, most + 1);
  const [one, other] = two(soldiers, 4);
  return [
    heroes[0] + pick(key, turn, 0, heroes[1]), skills[0] + pick(key, turn, 1, skills[1]), ...two(equipment, 2),
    one, 1 + pick(key, turn, 6, most), second === 0 ? -1 : other, second,
  ];
}

/** @param {Team} team @param {number[][]} pieces */
function cost([hero, skill, one, other, first, count, second, more], pieces) {
  const of = (/** @type {number} */ piece) => pieces[piece][COST];
  return of(hero) + of(skill) + of(one) + of(other) + of(first) * count + (second >= 0 ? of(second) * more : 0);
}

/** @param {bigint} key @param {Tables} tables */
function drawTeam(key, tables) {
  for (let turn = 0; ; turn += 1) {
    const team = proposed(key, turn, tables);
    const count = team[5] + team[7];
    const total = cost(team, tables.pieces);
    const fits = tables.soldiers[0] <= count && count <= tables.soldiers[1] && tables.budget[0] <= total && total <= tables.budget[1];
    if (fits) return team;
  }
}

/** The two teams of a seed, with different heroes; or the same one for both sides.
 * @param {bigint} seed @param {boolean} same @param {Tables} tables @returns {[Team, Team]} */
export function drawTeams(seed, same, tables) {
  const left = drawTeam(combine(seed, 1n), tables);
  if (same) return [left, [...left]];
  for (let turn = 2n; ; turn += 1n) {
    const right = drawTeam(combine(seed, turn), tables);
    if (right[0] !== left[0]) return [left, right];
  }
}
