// A battle of herobattle with a commander on each side, as engine/games/herobattle/kernel.py fights it, operation by
// operation: a test compares whole battles. All units decide on the state at the start of a tick, and damage and steps
// take effect together at its end. What the engine computes in 32 bits is rounded by `f`, or by the array that keeps it.
import { draw, keyOf } from "../splitmix.js";
import * as at from "./layout.js";
import { matchups, mustered } from "./muster.js";
import { attract, march } from "./orders.js";
/** @import { Tables, Team } from "./teams.js" */

const f = Math.fround;
const [BLOW, USE, START] = [1, 2, 3]; // events that a unit draws a number for
const FAR = 0x7fffffff;
const WORN = 0.65; // a team's share of life below which some skills are used
const MELEE = 3; // paces
const RETARGET = 8; // ticks
const bits = new DataView(new ArrayBuffer(4));

/** A side as a whole: how many units it began with, how many of them live and fell, the life it began with; ticks of the
 * last fall, of the enemy's and of its own last use of the skill, and until when it waits for its next use, is blessed by
 * its own skill and cursed by the enemy's; the factors on its blows and on its speed now; what a blow of its hero is
 * worth; and the order in force.
 * @typedef {{ units: number, alive: number, start: number, fell: number, fellAt: number, provokedAt: number, ready: number,
 * used: number, blessed: number, cursed: number, might: number, pace: number, blow: number, order: number[] }} Side */

/** The bits of a number in 32 bits, which order numbers that are not negative as the numbers themselves.
 * @param {number} number */
function bitsOf(number) {
  bits.setFloat32(0, number);
  return bits.getInt32(0);
}

export class Battle {
  /** @param {Tables} tables @param {Team[]} teams @param {bigint[]} streams the random streams of both sides */
  constructor(tables, teams, streams) {
    this.parameters = tables.parameters;
    this.field = f(this.parameters[at.FIELD]);
    this.limit = Math.trunc(this.parameters[at.TIME_LIMIT]);
    this.spread = this.parameters[at.ROLL_SPREAD] / 100;
    this.teams = teams;
    const { kinds, powers } = mustered(teams, tables);
    this.kinds = kinds;
    this.powers = powers;
    const { harm, lure } = matchups(kinds);
    this.harm = harm;
    this.lure = lure;
    this.units = new Float32Array(at.UNIT_CELLS);
    this.marks = new Int32Array(at.MARK_CELLS);
    /** @type {bigint[]} */
    this.keys = new Array(at.UNITS).fill(0n);
    this.tick = 0;
    /** @type {Side[]} */
    this.sides = [0, 1].map((side) => this.deployed(side, streams[side]));
    for (let i = 0; i < at.UNITS; i += 1) {
      const side = i < at.LANES ? 1 : 0;
      for (let kind = 0; kind < at.KINDS; kind += 1) {
        this.units[at.LURE + kind * at.UNITS + i] = lure[side * 9 + kind * 3 + this.marks[at.KIND + i]];
      }
    }
    for (const side of [0, 1]) this.aimAll(side);
  }

  /** @param {number} side @param {number} power a column of layout.js */
  power(side, power) {
    return this.powers[side * at.P_COLUMNS + power];
  }

  /** One side's units on the field; the right side mirrors the left.
   * @param {number} side @param {bigint} stream @returns {Side} */
  deployed(side, stream) {
    let n = 0;
    for (let kind = 0; kind < at.KINDS; kind += 1) {
      for (let left = this.kinds[at.kindAt(side, kind) + at.K_COUNT]; left > 0; left -= 1) {
        this.place(side, n, kind, keyOf(stream, n));
        n += 1;
      }
    }
    return {
      units: n, alive: n, start: this.life(side), fell: 0, fellAt: 0, provokedAt: 0, ready: this.power(side, at.FIRST_USE),
      used: 0, blessed: 0, cursed: 0, might: 0, pace: 1, order: new Array(at.ORDERS).fill(0),
      blow: Math.max(this.kinds[at.kindAt(side, at.HERO) + at.K_DAMAGE], 1e-9),
    };
  }

  /** @param {number} side @param {number} n @param {number} kind @param {bigint} key */
  place(side, n, kind, key) {
    const { units, kinds } = this;
    const [i, base] = [side * at.LANES + n, at.kindAt(side, kind)];
    this.keys[i] = key;
    this.marks[at.KIND + i] = kind;
    units[at.LIFE + i] = units[at.FULL + i] = kinds[base + at.K_HP];
    units[at.STEP + i] = units[at.PACE + i] = kinds[base + at.K_SPEED];
    units[at.REACH2 + i] = kinds[base + at.K_RANGE] * kinds[base + at.K_RANGE];
    units[at.WAIT + i] = kinds[base + at.K_INTERVAL];
    units[at.READY + i] = kinds[base + at.K_INTERVAL] * draw(key, 0, BLOW);
    const back = 0.5 * this.parameters[at.FIELD] + (kinds[base + at.K_RANGE] > MELEE ? 2.5 : 0);
    units[at.X + i] = side === 0 ? -back : back;
    const row = 1.1 * Math.trunc((n + 1) / 2);
    units[at.Y + i] = (n % 2 === 1 ? row : -row) + 0.6 * draw(key, 0, START);
  }

  /** A side's hit points.
   * @param {number} side */
  life(side) {
    let total = 0;
    for (let i = side * at.LANES; i < side * at.LANES + at.SIDE; i += 1) total += this.units[at.LIFE + i];
    return total;
  }

  /** The share of a side's life that is left.
   * @param {number} side */
  strength(side) {
    return this.life(side) / this.sides[side].start;
  }

  get over() {
    return this.sides.some(({ alive }) => alive === 0) || this.tick >= this.limit;
  }

  /** Which side has won; -1 where both have as much left, or while it goes on. */
  get winner() {
    const [left, right] = [this.strength(0), this.strength(1)];
    return !this.over || left === right ? -1 : left > right ? 0 : 1;
  }

  /** Put orders of both sides into force: what one names seems near at once, and everybody aims again.
   * @param {number[][]} orders */
  obey(orders) {
    orders.forEach((order, side) => {
      const before = this.sides[side].order[at.FOCUS];
      this.sides[side].order = [...order];
      if (before === at.NEAREST && order[at.FOCUS] === at.NEAREST) return;
      attract(this, side);
      this.aimAll(side);
    });
  }

  /** @param {number} side */
  aimAll(side) {
    for (let i = side * at.LANES; i < side * at.LANES + this.sides[side].units; i += 1) this.aim(i, 1 - side);
  }

  /** A unit aims at the nearest living enemy, by distances weighted with how well its kind does against theirs and with
   * what it is told. The enemy's number breaks ties.
   * @param {number} i @param {number} foe */
  aim(i, foe) {
    const { units, marks } = this;
    const lure = at.LURE + marks[at.KIND + i] * at.UNITS;
    const first = foe * at.LANES;
    let best = FAR;
    for (let j = 0; j < at.LANES; j += 1) {
      if (units[at.LIFE + first + j] <= 0) continue;
      const dx = f(units[at.X + first + j] - units[at.X + i]);
      const dy = f(units[at.Y + first + j] - units[at.Y + i]);
      const away = f(f(f(dx * dx) + f(dy * dy)) * units[lure + first + j]);
      best = Math.min(best, (bitsOf(away) & ~(at.LANES - 1)) | j);
    }
    marks[at.TARGET + i] = first + (best & (at.LANES - 1));
  }

  /** One tick. */
  fight() {
    this.tick += 1;
    for (const side of [0, 1]) {
      this.sides[side].might = this.might(side);
      this.slow(side);
    }
    this.look();
    const due = this.move();
    for (const side of [0, 1]) march(this, side, due);
    for (let i = 0; i < at.UNITS; i += 1) if (((due >>> i) & 1) === 1) this.strike(i);
    const ready = [this.wants(0), this.wants(1)];
    for (const side of [0, 1]) if (ready[side]) this.use(side);
    if (this.settle()) this.bury();
  }

  /** Factor on a side's blows in this tick, from own and enemy skills and equipment.
   * @param {number} side */
  might(side) {
    const { tick, sides: { [side]: own, [1 - side]: foe } } = this;
    let might = 1 + this.power(side, at.P_GRUDGE) * own.fell;
    const stand = this.power(side, at.P_LAST_STAND);
    if (stand > 0 && this.life(side) < 0.5 * own.start) might *= 1 + stand;
    if (tick <= own.blessed) might *= 1 + this.power(side, at.RALLY);
    if (tick <= own.cursed) might *= 1 - this.power(1 - side, at.WEAKEN);
    if (tick <= foe.blessed) might *= 1 - this.power(1 - side, at.WARD);
    if (tick <= this.parameters[at.OPENING]) might *= (1 + this.power(side, at.P_ASSAULT)) * (1 - this.power(1 - side, at.P_OPENING));
    return might;
  }

  /** A side's speed, when a slowing skill begins or ends.
   * @param {number} side */
  slow(side) {
    const { units, tick, sides: { [side]: own } } = this;
    const pace = tick <= own.cursed ? 1 - this.power(1 - side, at.SLOW) : 1;
    if (pace === own.pace) return;
    own.pace = pace;
    for (let i = side * at.LANES; i < side * at.LANES + at.SIDE; i += 1) units[at.STEP + i] = units[at.PACE + i] * f(pace);
  }

  /** Aim again where due, each unit every eighth tick; then where all targets are. */
  look() {
    const { units, marks, sides } = this;
    sides.forEach(({ units: n }, side) => {
      for (let k = -this.tick & (RETARGET - 1); k < n; k += RETARGET) this.aim(side * at.LANES + k, 1 - side);
      for (let i = side * at.LANES; i < side * at.LANES + n; i += 1) {
        units[at.TARGET_X + i] = units[at.X + marks[at.TARGET + i]];
        units[at.TARGET_Y + i] = units[at.Y + marks[at.TARGET + i]];
      }
    });
  }

  /** Of all units a step towards the target or, if that is in range and the unit is ready, a bit in the returned mask of
   * units that strike in this tick. */
  move() {
    const { units, tick } = this;
    let due = 0;
    for (let i = 0; i < at.UNITS; i += 1) {
      const dx = f(units[at.TARGET_X + i] - units[at.X + i]);
      const dy = f(units[at.TARGET_Y + i] - units[at.Y + i]);
      const away = f(f(dx * dx) + f(dy * dy));
      const able = units[at.LIFE + i] > 0 && tick > units[at.STUNNED + i];
      const far = away > units[at.REACH2 + i];
      const step = able && far ? Math.min(f(units[at.STEP + i] / f(Math.sqrt(away))), 1) : 0;
      units[at.STEP_X + i] = dx * step;
      units[at.STEP_Y + i] = dy * step;
      if (able && !far && tick >= units[at.READY + i]) due |= 1 << i;
    }
    return due;
  }

  /** A unit's blow; it keeps the fraction of a tick that it was late.
   * @param {number} i */
  strike(i) {
    const { units, marks, tick } = this;
    const side = i < at.LANES ? 0 : 1;
    const t = marks[at.TARGET + i];
    const idle = f(tick - units[at.READY + i]);
    units[at.READY + i] = f(tick - f(idle - Math.floor(idle))) + units[at.WAIT + i];
    const roll = 1 + this.spread * (2 * draw(this.keys[i], tick, BLOW) - 1);
    const harm = this.harm[side * 9 + marks[at.KIND + i] * 3 + marks[at.KIND + t]];
    const blow = f(harm * this.sides[side].might * roll);
    units[at.HURT + t] += blow;
    if (marks[at.KIND + t] === at.HERO) units[at.BACK + i] += f(blow * this.power(1 - side, at.P_THORNS));
  }

  /** Whether a side's hero can use the skill now, and its trigger or its commander says so.
   * @param {number} side */
  wants(side) {
    const { units, tick, sides: { [side]: own } } = this;
    const hero = side * at.LANES;
    const use = own.order[at.SKILL];
    if (use === at.HELD || tick < own.ready || units[at.LIFE + hero] <= 0 || tick <= units[at.STUNNED + hero]) return false;
    const trigger = this.power(side, at.TRIGGER);
    if (use === at.AT_ONCE || trigger < 0.5) return true;
    if (trigger < 1.5) return this.life(side) < WORN * own.start;
    return (trigger < 2.5 ? own.fellAt : own.provokedAt) > own.used;
  }

  /** Use the skill if its target is in reach; it takes effect from the next tick, a shield from this one.
   * @param {number} side */
  use(side) {
    const { tick, sides: { [side]: own, [1 - side]: foe } } = this;
    const power = (/** @type {number} */ column) => this.power(side, column);
    if ((power(at.STRIKE) > 0 || power(at.STUN) > 0) && !this.burst(side)) return;
    if (power(at.SHIELD) > 0) this.cover(side);
    own.blessed = foe.cursed = tick + power(at.DURATION);
    own.ready = tick + power(at.COOLDOWN);
    own.used = foe.provokedAt = tick;
  }

  /** The squared distance between two units.
   * @param {number} i @param {number} j */
  between(i, j) {
    const { units } = this;
    const dx = f(units[at.X + i] - units[at.X + j]);
    const dy = f(units[at.Y + i] - units[at.Y + j]);
    return f(f(dx * dx) + f(dy * dy));
  }

  /** What a skill does to enemies around its target; false where that is out of reach.
   * @param {number} side */
  burst(side) {
    const { units, marks, tick, sides: { [side]: own } } = this;
    const hero = side * at.LANES;
    const first = (1 - side) * at.LANES;
    const t = marks[at.TARGET + hero];
    const reach = this.parameters[at.REACH];
    if (this.between(t, hero) > reach * reach) return false;
    const radius = this.power(side, at.RADIUS);
    const strike = this.power(side, at.STRIKE) * own.might * (0.8 + 0.4 * draw(this.keys[hero], tick, USE));
    for (let j = first; j < first + at.SIDE; j += 1) {
      if (units[at.LIFE + j] <= 0 || this.between(j, t) > radius * radius) continue;
      units[at.HURT + j] += f((strike * this.harm[side * 9 + marks[at.KIND + j]]) / own.blow);
      units[at.STUNNED + j] = Math.max(units[at.STUNNED + j], f(tick + this.power(side, at.STUN)));
    }
    return true;
  }

  /** A shield over friends around the hero.
   * @param {number} side */
  cover(side) {
    const { units } = this;
    const hero = side * at.LANES;
    const radius = this.power(side, at.RADIUS);
    for (let j = hero; j < hero + at.SIDE; j += 1) {
      if (units[at.LIFE + j] <= 0 || this.between(j, hero) > radius * radius) continue;
      units[at.COVER + j] = Math.max(units[at.COVER + j], f(this.power(side, at.SHIELD)));
    }
  }

  /** Apply steps and damage of a tick; whether anybody fell. */
  settle() {
    const { units } = this;
    let fell = false;
    for (let i = 0; i < at.UNITS; i += 1) {
      units[at.X + i] += units[at.STEP_X + i];
      units[at.Y + i] += units[at.STEP_Y + i];
      const before = units[at.LIFE + i];
      const harm = f(units[at.HURT + i] + units[at.BACK + i]);
      const covered = Math.min(harm, units[at.COVER + i]);
      units[at.COVER + i] -= covered;
      const after = Math.max(f(before - f(harm - covered)), 0);
      units[at.LIFE + i] = after;
      units[at.HURT + i] = 0;
      units[at.BACK + i] = 0;
      fell ||= before > 0 && after <= 0;
    }
    return fell;
  }

  /** Count the living after units fell; units that aimed at a fallen one aim again. */
  bury() {
    const { units, marks, sides } = this;
    sides.forEach((own, side) => {
      let alive = 0;
      for (let i = side * at.LANES; i < side * at.LANES + own.units; i += 1) if (units[at.LIFE + i] > 0) alive += 1;
      if (alive >= own.alive) return;
      own.fell += own.alive - alive;
      own.fellAt = this.tick;
      own.alive = alive;
      const first = (1 - side) * at.LANES;
      for (let i = first; i < first + sides[1 - side].units; i += 1) {
        if (units[at.LIFE + marks[at.TARGET + i]] <= 0) this.aim(i, side);
      }
    });
  }
}
