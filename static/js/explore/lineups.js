// Every evaluated lineup as columns. Names and teams are put together from piece names when somebody looks at them.
import { levelOf, plural, rangeAround, textsWithRange, whole } from "../charts/format.js";
import { load, rowsOf } from "./data.js";
import { judge, MOVED_WEAK } from "./judging.js";
/** @import { Ends } from "../charts/format.js" */
/** @import { Column, Container } from "./data.js" */

export const UNDER = 0;
export const UNSURE = 1;
export const STRONG = 2;
export const BEST = 3;
export const VERDICTS = ["under", "unsure", "strong"];
/** The mark of each kind: a verdict, or, where no line was drawn, a best trade-off. */
export const KINDS = [...VERDICTS, "fair"];
export const FOUND = -2; // stands for an objective: in which order lineups were found

/** @type {Objective} */
const BIRTH = { name: "found", title: "Found as lineup number", unit: "", toward: "later", direction: "max",
  threshold: null, strength: false, low: null, high: null, digits: 0, worth: 0 };
/** What is compared. `threshold`: its line; `low` and `high`: its floor and cap; `digits`: after the point, of its typical
 * range and of lines; `worth`: of its values.
 * @typedef {object} Objective
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {string} toward
 * @property {string} direction
 * @property {number | null} threshold
 * @property {boolean} strength
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} digits
 * @property {number} worth */
/** What fresh battles say of a lineup (`now`), and what the search had said (`before`); `why`: how it is confirmed although
 * its range reaches across a line.
 * @typedef {{ words: string, short: string, why?: string,
 *   now: { finding: string, battles: number, over: boolean, of: string, across: string, endless: boolean },
 *   before: { verdict: number, mean: number[], half: (number | null)[], samples: number } }} Fresh */
/** What the files say of all lineups; slots: `count` is the place of the slot that says how many.
 * @typedef {object} Meta
 * @property {number} rows
 * @property {number} teams
 * @property {number} battles_of_replicate
 * @property {Objective[]} objectives
 * @property {Record<string, string>} words
 * @property {string[]} sure
 * @property {string[]} moved_sure
 * @property {string} meant_words
 * @property {boolean} explained whether families are named after what was proved to be unfair
 * @property {string} why_across
 * @property {Record<string, Fresh>} fresh
 * @property {{ value: number, half?: number } | null} median
 * @property {{ name: string, pieces: number[] }[]} families
 * @property {{ id: string, name: string, cost: number, category: string }[]} pieces
 * @property {{ kind: string, count: number }[]} slots
 * @property {Record<string, string>} categories */
/** Bytes of lineups. @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {Float32Array<ArrayBuffer>} Floats */
/** @typedef {Column<Bytes>} ByteColumn */
/** @typedef {Container<Meta, { id: Column<Uint32Array<ArrayBuffer>>, value: Column<Floats>, half: Column<Floats>, verdict: ByteColumn,
 *   sure: ByteColumn, family: ByteColumn, best: ByteColumn, random: ByteColumn, meant: ByteColumn, samples: Column<Uint16Array<ArrayBuffer>> }>} Core */
/** @typedef {Container<unknown, { genome: Column<Bytes | Uint16Array<ArrayBuffer>>, anchor: Column<Int8Array<ArrayBuffer>> }>} Details */
/** Where the files are, and of which state of the job. @typedef {{ key: string, core: string, lineups: string }} Files */

export const NO_FAMILY = 0;
const FEW = 8; // replicates
const WIDE = 5; // times the typical range of its objective
const BEYOND = 0.25; // of what all values span
const WEAK = 3; // the place in meta.sure of what is over the line but weak, by the search's battles

const none = { data: new Uint8Array(0), shape: [0] };
const floats = { data: new Float32Array(0), shape: [0, 0] };
/** The columns of a job that has played nothing yet. @type {Core["arrays"]} */
const EMPTY = {
  id: { data: new Uint32Array(0), shape: [0] }, value: floats, half: floats, verdict: none, sure: none, family: none,
  best: none, random: none, meant: none, samples: { data: new Uint16Array(0), shape: [0] },
};

export class Lineups {
  /** @param {Core} core */
  constructor({ meta, arrays }) {
    this.meta = meta;
    this.objectives = meta.objectives;
    this.words = meta.words;
    /** The lines of the job, by objective; `objectives` have those that hold now. */
    this.ownLines = meta.objectives.map((o) => o.threshold);
    this.moved = false;
    this.count = meta.rows;
    this.hasLine = meta.objectives.some((o) => o.threshold !== null);
    this.detailed = false;
    /** What fresh battles say, by id; their numbers already stand in the columns, in place of the search's. */
    this.fresh = new Map(Object.entries(meta.fresh).map(([id, what]) => [Number(id), what]));
    /** From the second file, with the teams and slots of a lineup. @type {Bytes | Uint16Array<ArrayBuffer>} */
    this.genome = new Uint8Array(0);
    this.anchor = new Int8Array(0);
    /** @type {number[]} */
    this.pieceSlots = [];
    /** How many lineups have each name, once somebody asks. @type {Map<string, number> | null} */
    this.called = null;
    this.teams = 0;
    this.slots = 0;
    /** @type {Floats | null} */
    this.birth = null;
    const { id, value, half, verdict, sure, family, best, random, meant, samples } = this.count ? arrays : EMPTY;
    this.id = id.data;
    this.value = rowsOf(value);
    this.half = rowsOf(half);
    this.verdict = verdict.data;
    this.sure = sure.data; // places in meta.sure, which says how sure in words
    this.family = family.data;
    this.best = best.data;
    this.random = random.data; // 1: drawn at random, not bred
    this.meant = meant.data; // 1: somebody means it to be so, and nothing counts it
    this.samples = samples.data;
    this.served = { verdict: this.verdict, sure: this.sure };
    this.extent = this.value.map(extent);
    /** Half of the typical range, by objective, once somebody asked. @type {number[]} */
    this.typical = [];
    /** The ends of range bars, by objective, once somebody asked. @type {Ends[]} */
    this.spans = [];
    this.kind = this.hasLine ? this.verdict : this.best.map((one) => BEST * one);
  }

  /** Judge by `lines` (by an objective's short name) instead of the job's own.
   * @param {Record<string, number>} lines */
  drawLines(lines) {
    this.objectives.forEach((objective, j) => {
      const own = this.ownLines[j];
      objective.threshold = own === null ? null : (lines[objective.name] ?? own);
    });
    this.moved = this.objectives.some((o, j) => o.threshold !== this.ownLines[j]);
    if (!this.count || !this.hasLine) return;
    Object.assign(this, this.moved ? judge(this) : this.served);
    this.kind = this.verdict;
  }

  /** Whether a lineup's value is over a line; its `whole` range. What fresh battles leave open is marked so wherever it is.
   * @param {number} row @param {boolean} [whole] */
  isOver(row, whole = false) {
    return this.verdict[row] !== UNDER && this.objectives.some(({ threshold, direction }, j) =>
      threshold !== null && (direction === "max" ? 1 : -1) * (this.value[j][row] - Math.fround(threshold)) >= (whole ? this.half[j][row] : 0));
  }

  /** Whether one that is marked as under the line has a range that reaches across it.
   * @param {number} row */
  reachesOver(row) {
    return this.verdict[row] === UNDER && this.objectives.some(({ threshold, direction }, j) =>
      threshold !== null && (direction === "max" ? 1 : -1) * (this.value[j][row] - Math.fround(threshold)) + this.half[j][row] >= 0);
  }

  /** How sure a lineup is, in words.
   * @param {number} row */
  howSure(row) {
    if (this.meant[row]) return this.meta.meant_words;
    if (this.weak(row) && !this.isOver(row, true)) return this.words.near;
    return this.meta[this.moved ? "moved_sure" : "sure"][this.sure[row]];
  }

  /** Whether it is over the line on average, but surely too weak to matter.
   * @param {number} row */
  weak(row) {
    return this.sure[row] === (this.moved ? MOVED_WEAK : WEAK);
  }

  /** What an axis needs of objective `j`, or of FOUND: {objective, values, extent}.
   * @param {number} j @returns {{ objective: Objective, values: Floats, extent: number[] }} */
  axis(j) {
    if (j !== FOUND) return { objective: this.objectives[j], values: this.value[j], extent: this.extent[j] };
    this.birth ??= Float32Array.from(this.id);
    return { objective: BIRTH, values: this.birth, extent: extent(this.birth) };
  }

  /** Take in the second file: what names and details need.
   * @param {Details} details */
  detail({ arrays }) {
    if (this.count) {
      [, this.teams, this.slots] = arrays.genome.shape;
      this.genome = arrays.genome.data;
      this.anchor = arrays.anchor.data;
      this.pieceSlots = this.meta.slots.flatMap((slot, s) => (slot.kind === "piece" ? [s] : []));
    }
    this.detailed = true;
  }

  /** Rows of the lineups that fresh battles confirm by the job's own line; none where the line is moved. */
  get confirmed() {
    const found = this.moved ? [] : [...this.fresh].filter(([, { now }]) => now.finding === "confirmed");
    return found.map(([id]) => this.row(id)).filter((row) => row >= 0 && this.kind[row] === STRONG);
  }

  /** How many lineups fresh battles leave open by the job's own line: what a report calls not settled. */
  get open() {
    const left = [...this.fresh].filter(([, { now }]) => now.finding === "more" || now.finding === "close");
    return left.filter(([id]) => !this.meant[this.row(id)]).length;
  }

  /** The row of a lineup's id, or -1. Ids rise.
   * @param {number} id */
  row(id) {
    let [low, high] = [0, this.count - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.id[middle] === id) return middle;
      if (this.id[middle] < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** @param {number} row */
  name(row) {
    if (!this.detailed) return "";
    const names = [];
    for (let team = 0; team < this.teams; team += 1) names.push(this.parts(row, team)[0]?.text ?? "Empty team");
    return names.join(" · ");
  }

  /** What tells lineups apart that are called alike: one team’s other pieces; the number of a lineup of several teams.
   * @param {number} row */
  others(row) {
    if (!this.detailed) return [];
    if (this.teams === 1) return this.parts(row, 0).slice(1).map(({ text }) => text);
    this.called ??= this.countNames();
    return (this.called.get(this.name(row)) ?? 0) > 1 ? [`lineup\u00a0${this.id[row]}`] : [];
  }

  /** How many lineups have each name. */
  countNames() {
    /** @type {Map<string, number>} */
    const found = new Map();
    for (let row = 0; row < this.count; row += 1) {
      const name = this.name(row);
      found.set(name, (found.get(name) ?? 0) + 1);
    }
    return found;
  }

  /** What one team is made of, in slot order: [{piece, cost, text}]; text is "Warhorn" or "Pikes ×6": names stay as they are.
   * @param {number} row @param {number} team */
  parts(row, team) {
    const start = (row * this.teams + team) * this.slots;
    const found = [];
    for (const s of this.pieceSlots) {
      const piece = this.genome[start + s] - 1; // files hold one more than the engine: 0 is an empty slot
      if (piece < 0) continue;
      const { count } = this.meta.slots[s];
      const { name, cost } = this.meta.pieces[piece];
      const many = count < 0 ? 1 : this.genome[start + count] - 1;
      found.push({ piece, cost: many * cost, text: count < 0 ? name : `${name}\u00a0×${whole(many)}` });
    }
    return found;
  }

  /** @param {number} row */
  costs(row) {
    const sum = (/** @type {number} */ team) => this.parts(row, team).reduce((total, { cost }) => total + cost, 0);
    return Array.from({ length: this.teams }, (_, team) => sum(team));
  }

  /** Uint8Array: 1 where the lineup contains the piece.
   * @param {number} piece */
  containing(piece) {
    const found = new Uint8Array(this.count);
    const width = this.teams * this.slots;
    for (const s of this.pieceSlots) {
      for (let team = 0; team < this.teams; team += 1) {
        for (let i = 0, at = team * this.slots + s; i < this.count; i += 1, at += width) {
          if (this.genome[at] === piece + 1) found[i] = 1;
        }
      }
    }
    return found;
  }

  /** [low, high] of the 95 % range, within the objective's floor and cap; null when it is not known.
   * @param {number} row @param {number} j @returns {Ends | null} */
  range(row, j) {
    return j === FOUND ? null : this.around(this.value[j][row], this.half[j][row], j);
  }

  /** The same of any mean of objective `j` with half of its range, such as what the search had measured.
   * @param {number} mean @param {number | null} half @param {number} j */
  around(mean, half, j) {
    const { low, high } = this.objectives[j];
    return rangeAround(mean, half, [low, high]);
  }

  /** The ends of the axis of range bars: all values with their ranges, but for what lies far outside of all values.
   * @param {number} j */
  span(j) {
    this.spans[j] ??= span(this.extent[j], this.value[j], this.half[j]);
    return this.spans[j];
  }

  /** Why a lineup's range is much wider than others': how few replicates it has; empty where it is not.
   * @param {number} row @param {number} j */
  few(row, j) {
    this.typical[j] ??= middle(this.half[j]);
    return this.samples[row] <= FEW && this.half[j][row] > WIDE * this.typical[j] ? plural(this.samples[row], "replicate") : "";
  }

  /** The strength of the median baseline team as pages write it, for the objective that says how strong; else null.
   * @param {number} j */
  level(j) {
    const { strength, digits } = this.objectives[j];
    return strength ? levelOf(this.meta.median, digits) : null;
  }

  /** A mean of objective `j` and its range in words, in the digits that the column's typical range is worth, and as many
   * more as tell them from the line.
   * @param {number} mean @param {Ends | null} range @param {number} j */
  texts(mean, range, j) {
    const objective = this.objectives[j];
    const lines = [objective.threshold, this.level(j)?.value].filter((line) => typeof line === "number");
    return textsWithRange(mean, range, { ...objective, digits: objective.worth, lines });
  }

  /** What objective `j` of a lineup came to, in words: {value, plain, range}.
   * @param {number} row @param {number} j */
  textsOf(row, j) {
    return this.texts(this.value[j][row], this.range(row, j), j);
  }
}

/** The median of those above 0; infinite without any.
 * @param {Floats} values */
function middle(values) {
  const known = values.filter((value) => value > 0 && Number.isFinite(value)).sort();
  return known.length ? known[known.length >> 1] : Infinity;
}

/** @param {Floats} values */
function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** @param {number[]} extent @param {Floats} values @param {Floats} halves @returns {Ends} */
function span([low, high], values, halves) {
  const [least, most] = [low - BEYOND * (high - low), high + BEYOND * (high - low)];
  let [from, to] = [low, high];
  for (let i = 0; i < values.length; i += 1) {
    if (values[i] - halves[i] < from) from = values[i] - halves[i];
    if (values[i] + halves[i] > to) to = values[i] + halves[i];
  }
  return [Math.max(from, least), Math.min(to, most)];
}

/** @param {Files} data */
export const loadCore = async (data) => new Lineups(await load(data.core));
/** @param {Files} data @returns {Promise<Details>} */
export const loadDetails = (data) => load(data.lineups);
