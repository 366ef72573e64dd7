// What a team's pieces make of its units before a battle, as `muster` and `_matchups` of engine/games/herobattle/kernel.py.
import * as at from "./layout.js";
/** @import { Tables, Team } from "./teams.js" */

const PERCENT = [at.WARD, at.RALLY, at.WEAKEN, at.SLOW];

/** The kinds of unit of both sides, and what skill and equipment do for each whole side (layout.js).
 * @param {Team[]} teams @param {Tables} tables */
export function mustered(teams, tables) {
  const kinds = new Float64Array(2 * at.KINDS * at.K_COLUMNS);
  const powers = new Float64Array(2 * at.P_COLUMNS);
  teams.forEach((team, side) => {
    muster(team, side, tables, kinds);
    powers.set(powersOf(team, tables.pieces), side * at.P_COLUMNS);
  });
  return { kinds, powers };
}

/** @param {Team} team @param {number} side @param {Tables} tables @param {Float64Array} kinds */
function muster(team, side, tables, kinds) {
  const { pieces, groups } = tables;
  const last = team[6] < 0 ? 2 : 3;
  for (let kind = 0; kind < last; kind += 1) {
    const slot = kind === at.HERO ? 0 : 2 + 2 * kind;
    addKind(kinds, at.kindAt(side, kind), pieces[team[slot]], kind === at.HERO);
    kinds[at.kindAt(side, kind) + at.K_COUNT] = kind === at.HERO ? 1 : team[slot + 1];
    kinds[at.kindAt(side, kind) + at.K_CLASS] = kind === at.HERO ? at.NO_CLASS : team[slot] - groups[3][0];
  }
  equip(kinds, side, last, pieces[team[2]], pieces[team[3]]);
  banner(kinds, side, last, team, tables);
}

/** @param {Float64Array} kinds @param {number} base @param {number[]} piece @param {boolean} hero */
function addKind(kinds, base, piece, hero) {
  for (let c = 0; c < at.K_AGAINST; c += 1) kinds[base + c] = piece[at.HP + c];
  const total = piece[at.EDGE] + piece[at.EDGE + 1] + piece[at.EDGE + 2];
  for (let c = 0; c < 3; c += 1) {
    kinds[base + at.K_EDGE + c] = total > 0 ? piece[at.EDGE + c] / total : 1 / 3;
    kinds[base + at.K_AGAINST + c] = hero ? 0 : piece[at.AGAINST + c] / 100;
  }
}

/** @param {Float64Array} kinds @param {number} side @param {number} last @param {number[]} e @param {number[]} f */
function equip(kinds, side, last, e, f) {
  const haste = 1 + (e[at.E_HASTE] + f[at.E_HASTE]) / 100;
  const speed = 1 + (e[at.E_SPEED] + f[at.E_SPEED]) / 100;
  for (let kind = 0; kind < last; kind += 1) {
    const base = at.kindAt(side, kind);
    const body = kind === at.HERO ? at.E_HERO : at.E_SOLDIER;
    kinds[base + at.K_HP] *= 1 + (e[body] + f[body]) / 100;
    kinds[base + at.K_DAMAGE] *= 1 + (e[body + 1] + f[body + 1]) / 100;
    kinds[base + at.K_INTERVAL] /= Math.max(haste, 0.1);
    kinds[base + at.K_SPEED] *= Math.max(speed, 0);
  }
  const reach = at.kindAt(side, at.HERO) + at.K_RANGE;
  kinds[reach] = Math.max(kinds[reach] + e[at.E_RANGE] + f[at.E_RANGE], 0.5);
}

/** The hero's ways to strike and guards, equipment included, and the soldiers' share of them.
 * @param {Float64Array} kinds @param {number} side @param {number} last @param {Team} team @param {Tables} tables */
function banner(kinds, side, last, team, { pieces, parameters }) {
  const [hero, e, f] = [pieces[team[0]], pieces[team[2]], pieces[team[3]]];
  const base = at.kindAt(side, at.HERO);
  let total = 0;
  for (let c = 0; c < 3; c += 1) {
    kinds[base + at.K_EDGE + c] = hero[at.EDGE + c] + e[at.E_EDGE + c] + f[at.E_EDGE + c];
    total += kinds[base + at.K_EDGE + c];
  }
  const share = parameters[at.BANNER_KINDS] / 100;
  const cover = parameters[at.BANNER_GUARD] / 100;
  for (let c = 0; c < 3; c += 1) {
    kinds[base + at.K_EDGE + c] = total > 0 ? kinds[base + at.K_EDGE + c] / total : 1 / 3;
    const worn = e[at.E_GUARD + c] + f[at.E_GUARD + c];
    const lent = hero[at.GUARD + c] * cover + worn;
    kinds[base + at.K_GUARD + c] += worn;
    for (let kind = 1; kind < last; kind += 1) {
      const soldier = at.kindAt(side, kind);
      const own = kinds[soldier + at.K_EDGE + c];
      kinds[soldier + at.K_EDGE + c] = own + (kinds[base + at.K_EDGE + c] - own) * share;
      kinds[soldier + at.K_GUARD + c] += lent;
    }
  }
}

/** @param {Team} team @param {number[][]} pieces */
function powersOf(team, pieces) {
  const [skill, e, f] = [pieces[team[1]], pieces[team[2]], pieces[team[3]]];
  const powers = Array.from({ length: at.P_THORNS }, (_, c) => skill[c] / (PERCENT.includes(c) ? 100 : 1));
  for (let c = 0; c < 5; c += 1) powers.push((e[at.E_THORNS + c] + f[at.E_THORNS + c]) / 100);
  powers[at.P_OPENING] = Math.min(powers[at.P_OPENING], 0.8);
  return powers;
}

/** Damage of one blow, and the weight on squared distance when choosing a target, by side and pair of kinds.
 * @param {Float64Array} kinds */
export function matchups(kinds) {
  const harm = new Float32Array(2 * at.KINDS * at.KINDS);
  const lure = new Float32Array(2 * at.KINDS * at.KINDS);
  for (let side = 0; side < 2; side += 1) {
    for (let a = 0; a < at.KINDS; a += 1) {
      for (let b = 0; b < at.KINDS; b += 1) {
        const [own, other] = [at.kindAt(side, a), at.kindAt(1 - side, b)];
        let taken = 0;
        for (let c = 0; c < 3; c += 1) {
          const guard = Math.min(Math.max(kinds[other + at.K_GUARD + c], -75), 75);
          taken += kinds[own + at.K_EDGE + c] * (1 - guard / 100);
        }
        const kind = kinds[other + at.K_CLASS];
        const bonus = kind < at.NO_CLASS ? 1 + kinds[own + at.K_AGAINST + kind] : 1;
        harm[side * 9 + a * 3 + b] = kinds[own + at.K_DAMAGE] * taken * bonus;
        lure[side * 9 + a * 3 + b] = 1 / Math.max(bonus * bonus, 0.01);
      }
    }
  }
  return { harm, lure };
}
