// What is being looked at: filters, order, selection, view. One object that every part of the page reads and changes;
// it filters and sorts typed arrays of row numbers, tells who listens, and keeps the address in step.
import { plural, whole } from "../charts/format.js";
import { read, write } from "./address.js";
import { argsort, byGroup, rising } from "./order.js";
import { STRONG, UNDER, UNSURE } from "./lineups.js";
/** @import { Bytes, Lineups } from "./lineups.js" */
/** @import { Rows } from "./order.js" */

const FILTERS = ["line", "show", "min", "max", "family", "piece", "best", "listed"];
const ADDRESS_PAUSE_MS = 120;

/** What is being looked at. `line`: lines that somebody moved; `min` and `max`: bounds; each by an objective's name.
 * `show`: verdicts; `family`: numbers; `piece`: ids; `pick`: the open lineup; `rows`: ticked ones; `main`: the large panel's
 * objectives.
 * @typedef {object} State
 * @property {Set<number>} show
 * @property {Record<string, number>} line
 * @property {Record<string, number>} min
 * @property {Record<string, number>} max
 * @property {Set<number>} family
 * @property {Set<string>} piece
 * @property {boolean} best
 * @property {boolean} listed
 * @property {string} sort
 * @property {string} view
 * @property {number | null} pick
 * @property {Set<number>} rows
 * @property {[x: number, y: number] | null} main
 * @property {string} colour
 * @property {boolean} fit */
/** A lineup that somebody shortlisted; `on`: it still is. @typedef {{ state: string, on: boolean, reason: string }} Listed */

export class Store {
  /** @type {Record<string, (() => void)[]>} */
  listeners = {};
  /** Decisions, by lineup. @type {Map<number, Listed>} */
  listed = new Map();
  /** Row numbers in an order, by its word. @type {Record<string, Rows>} */
  sorted = {};
  /** Which rows contain a piece, by its id. @type {Map<string, Bytes>} */
  pieces = new Map();
  /** Places in the table by row, once somebody asked. @type {Int32Array | null} */
  place = null;
  /** @type {Rows} */
  every = new Uint32Array(0);
  /** Rows as the table has them. @type {Rows} */
  order = new Uint32Array(0);
  match = new Uint8Array(0);
  byVerdict = [0, 0, 0];
  byFamily = new Uint32Array(0);
  overLine = 0;
  close = 0; // left open, and not over
  open = 0; // not settled by fresh battles, over or not
  wholly = 0; // over the line with the whole range
  strong = 0;
  random = { over: 0, all: 0 };
  lined = 0;
  hasLine = false;
  strength = -1;
  familyCount = 0;
  battlesOfSample = 0;
  writing = 0;

  /** @param {Lineups} lineups @param {URLSearchParams} [address] */
  constructor(lineups, address = new URLSearchParams()) {
    this.lineups = lineups;
    this.take(lineups);
    this.state = this.read(address);
    this.drawLines();
    this.refilter();
  }

  /** @param {string} names @param {() => void} listener */
  on(names, listener) {
    for (const name of names.split(" ")) (this.listeners[name] ??= []).push(listener);
  }

  /** @param {string} name */
  tell(name) {
    for (const listener of this.listeners[name] ?? []) listener();
  }

  /** Other lineups, or the same and more: a running job was asked again.
   * @param {Lineups} lineups */
  take(lineups) {
    this.lineups = lineups;
    this.sorted = {};
    this.every = rising(lineups.count);
    this.pieces = new Map();
    this.lined = Math.max(0, lineups.objectives.findIndex((o) => o.threshold !== null));
    this.hasLine = lineups.hasLine;
    this.strength = lineups.objectives.findIndex((o) => o.strength);
    this.familyCount = lineups.meta.families.length;
    this.battlesOfSample = lineups.meta.battles_of_replicate;
  }

  /** Judge every lineup by the lines of the state: the job's own, or where somebody moved them. */
  drawLines() {
    const { lineups } = this;
    lineups.drawLines(this.state.line);
    for (const sort of ["how", "-how"]) delete this.sorted[sort];
    this.overLine = 0;
    this.close = 0;
    this.open = lineups.open;
    this.wholly = 0;
    this.strong = 0;
    this.random = { over: 0, all: 0 };
    for (let i = 0; i < lineups.count; i += 1) {
      const over = Number(this.hasLine && lineups.isOver(i));
      this.overLine += over;
      this.close += Number(lineups.verdict[i] !== UNDER) - over;
      this.wholly += Number(over && lineups.isOver(i, true));
      this.strong += Number(lineups.verdict[i] === STRONG);
      this.random.over += over & lineups.random[i];
      this.random.all += lineups.random[i];
    }
  }

  /** Move the line of objective `j`; null, or the job's own, moves it back.
   * @param {number} j @param {number | null} at */
  moveLine(j, at) {
    const { name } = this.lineups.objectives[j];
    const { [name]: before, ...line } = this.state.line;
    if (at !== null && at !== this.lineups.ownLines[j]) line[name] = at;
    if (line[name] !== before) this.set({ line });
  }

  /** @param {Lineups} lineups */
  replace(lineups) {
    this.take(lineups);
    this.drawLines();
    this.refilter();
    this.tell("data");
    this.tell("filter");
  }

  /** @returns {State} */
  defaults() {
    const objective = this.lineups.objectives[0];
    const first = (objective.direction === "max" ? "-" : "") + objective.name;
    return {
      show: new Set(this.hasLine ? [UNSURE, STRONG] : [UNDER, UNSURE, STRONG]),
      line: {},
      min: {},
      max: {},
      family: new Set(),
      piece: new Set(),
      best: false,
      listed: false,
      sort: this.hasLine ? "-how" : first,
      view: "pairs",
      pick: null,
      rows: new Set(),
      main: null,
      colour: "verdict",
      fit: false,
    };
  }

  /** Change part of the state; whoever shows it is told. `leave` makes the browser's Back return to the state before.
   * @param {Partial<State>} change @param {{ leave?: boolean }} [how] */
  set(change, { leave = false } = {}) {
    Object.assign(this.state, change);
    const names = Object.keys(change);
    if (names.includes("line")) {
      this.drawLines();
      this.tell("line");
    }
    if (names.some((name) => FILTERS.includes(name) || name === "sort")) {
      this.refilter();
      this.tell("filter");
    }
    for (const name of names) if (!FILTERS.includes(name)) this.tell(name);
    this.keepAddress(leave);
  }

  reset() {
    const { view, pick, rows, main, colour, line } = this.state;
    this.set({ ...this.defaults(), view, pick, rows, main, colour, line });
  }

  get narrowed() {
    const { min, max, family, piece, best, listed } = this.state;
    const also = Object.keys(min).length + Object.keys(max).length + family.size + piece.size || best || listed;
    return Boolean(also) || !this.showsUsual;
  }

  /** Whether what is over the line is listed, and nothing else; or everything, where there is no line. */
  get showsUsual() {
    const usual = this.defaults().show;
    const { show } = this.state;
    return show.size === usual.size && [...show].every((verdict) => usual.has(verdict));
  }

  /** "are over the line" of so many that are marked as over it or unsure: "may be" where no range and no fresh battles
   * say it, "are or may be" where they say it of some.
   * @param {number} many */
  claim(many) {
    const [marked, sure] = [this.overLine + this.close, Math.max(this.wholly, this.strong)];
    const verb = many === 1 ? "is" : "are";
    const how = sure >= marked ? verb : sure ? `${verb} or may be` : "may be";
    return `${how} ${this.lineups.words.over}${this.lineups.moved ? " by the moved line" : ""}`;
  }

  /** How many lineups are listed, and out of what: the line itself is a filter, so it is said. */
  get said() {
    const [found, all] = [this.order.length, this.lineups.count];
    if (!this.narrowed) {
      return this.hasLine ? `${whole(found)} of ${plural(all, "lineup")} ${this.claim(found)}` : plural(all, "lineup");
    }
    const marked = this.overLine + this.close;
    const of = this.hasLine && this.showsUsual ? `the ${whole(marked)} that ${this.claim(marked)}` : plural(all, "lineup");
    return `${whole(found)} of ${of} ${found === 1 ? "matches" : "match"}`;
  }

  // ---- rows ----

  refilter() {
    const { lineups, state } = this;
    const n = lineups.count;
    this.match = new Uint8Array(n);
    this.byVerdict = [0, 0, 0];
    this.byFamily = new Uint32Array(this.familyCount + 1);
    if (n) this.count(this.mask());
    const order = this.orderOf(state.sort);
    this.order = n ? order.filter((row) => this.match[row]) : order;
    this.place = null;
  }

  /** 1 where everything but the verdict and the family lets a row through. */
  mask() {
    const { lineups, state } = this;
    const keep = new Uint8Array(lineups.count).fill(1);
    lineups.objectives.forEach(({ name }, j) => {
      const low = state.min[name] === undefined ? -Infinity : Math.fround(state.min[name]);
      const high = state.max[name] === undefined ? Infinity : Math.fround(state.max[name]);
      if (low === -Infinity && high === Infinity) return;
      const value = lineups.value[j];
      for (let i = 0; i < keep.length; i += 1) if (!(value[i] >= low && value[i] <= high)) keep[i] = 0;
    });
    const also = [...state.piece].map((id) => this.containing(id)).filter((mask) => mask !== null);
    if (state.best) also.push(lineups.best);
    if (state.listed) also.push(this.listedMask());
    for (const other of also) for (let i = 0; i < keep.length; i += 1) keep[i] &= other[i];
    return keep;
  }

  /** @param {Bytes} keep */
  count(keep) {
    const { verdict, family } = this.lineups;
    const shown = Uint8Array.from([0, 1, 2], (v) => Number(this.state.show.has(v)));
    const wanted = new Uint8Array(this.familyCount + 1).fill(this.state.family.size ? 0 : 1);
    for (const number of this.state.family) wanted[number] = 1;
    for (let i = 0; i < keep.length; i += 1) {
      if (!keep[i]) continue;
      if (wanted[family[i]]) this.byVerdict[verdict[i]] += 1;
      if (shown[verdict[i]]) {
        this.byFamily[family[i]] += 1;
        this.match[i] = wanted[family[i]];
      }
    }
  }

  /** @param {string} id */
  containing(id) {
    if (!this.lineups.detailed) return null;
    const before = this.pieces.get(id);
    if (before) return before;
    const found = this.lineups.containing(this.lineups.meta.pieces.findIndex((p) => p.id === id));
    this.pieces.set(id, found);
    return found;
  }

  listedMask() {
    const mask = new Uint8Array(this.lineups.count);
    for (const [id, { on }] of this.listed) if (on && this.lineups.row(id) >= 0) mask[this.lineups.row(id)] = 1;
    return mask;
  }

  /** @param {string} sort */
  orderOf(sort) {
    return (this.sorted[sort] ??= this.lineups.count ? this.sort(sort) : new Uint32Array(0));
  }

  /** @param {string} sort */
  sort(sort) {
    const down = sort.startsWith("-");
    const word = down ? sort.slice(1) : sort;
    const { lineups } = this;
    if (word === "how") {
      const sign = lineups.objectives[this.lined].direction === "max" ? -1 : 1;
      const extreme = argsort(lineups.value[this.lined].map((value) => sign * value));
      const most = Math.max(lineups.meta.sure.length, lineups.meta.moved_sure.length);
      const groups = down ? lineups.sure : lineups.sure.map((sure) => most - 1 - sure);
      return byGroup(groups, extreme, most);
    }
    const keys = word === "name" ? this.nameKeys() : lineups.value[lineups.objectives.findIndex((o) => o.name === word)];
    return argsort(down ? keys.map((key) => -key) : keys);
  }

  /** A number for each lineup that orders it as its first three teams' first pieces are spelt. */
  nameKeys() {
    const { lineups } = this;
    const { pieces } = lineups.meta;
    const keys = new Float32Array(lineups.count);
    if (!lineups.detailed) return keys;
    const rank = new Float32Array(pieces.length);
    const spelt = pieces.map((_, i) => i).sort((a, b) => (pieces[a].name < pieces[b].name ? -1 : 1));
    spelt.forEach((piece, place) => (rank[piece] = place + 1));
    const [lead] = lineups.pieceSlots;
    for (let i = 0; i < keys.length; i += 1) {
      for (let team = 0; team < Math.min(3, lineups.teams); team += 1) {
        const piece = lineups.genome[(i * lineups.teams + team) * lineups.slots + lead] - 1;
        keys[i] = keys[i] * (pieces.length + 1) + (piece < 0 ? 0 : rank[piece]);
      }
    }
    return keys;
  }

  /** Where a row stands in the table, or -1.
   * @param {number} row */
  placeOf(row) {
    const place = (this.place ??= this.places());
    return row < 0 ? -1 : place[row];
  }

  places() {
    const found = new Int32Array(this.lineups.count).fill(-1);
    this.order.forEach((row, place) => (found[row] = place));
    return found;
  }

  get picked() {
    return this.state.pick === null || !this.lineups.count ? -1 : this.lineups.row(this.state.pick);
  }

  /** Names came in: what depends on them is worked out again. */
  detailed() {
    this.sorted = {};
    this.pieces = new Map();
    if (this.state.piece.size || this.state.sort.endsWith("name")) {
      this.refilter();
      this.tell("filter");
    }
    this.tell("names");
  }

  /** @param {{ listed?: Record<string, Listed> }} answer */
  decided({ listed }) {
    this.listed = new Map(Object.entries(listed ?? {}).map(([id, what]) => [Number(id), what]));
    if (this.state.listed) {
      this.refilter();
      this.tell("filter");
    }
    this.tell("listed");
  }

  // ---- address ----

  /** @param {URLSearchParams} address */
  read(address) {
    return read(address, this.lineups, this.defaults());
  }

  /** The state in words; `what` is "rows" for the words that decide which lineups a file holds. */
  address(what = "all") {
    return write(this.state, this.defaults(), this.lineups, what);
  }

  /** @param {boolean} leave */
  keepAddress(leave) {
    clearTimeout(this.writing);
    const write = () => {
      const words = this.address().toString().replaceAll("%2C", ",");
      const url = words ? `?${words}` : location.pathname;
      if (leave) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    };
    if (leave) write();
    else this.writing = setTimeout(write, ADDRESS_PAUSE_MS);
  }

  /** Back or forward: the address says what to show. */
  return() {
    this.state = this.read(new URLSearchParams(location.search));
    this.drawLines();
    this.refilter();
    for (const name of ["line", "filter", "view", "pick", "rows", "main", "colour", "fit", "sort"]) this.tell(name);
  }
}
