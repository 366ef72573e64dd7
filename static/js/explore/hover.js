// The card of the lineup under the pointer: its name, how unfair with its range, and what keys do. It stands where it
// hides the fewest marks, never on the point itself; a thin line leads to the point.
import { make } from "../elements.js";
import { inBrackets, plural } from "../charts/format.js";
import { mark } from "../marks.js";
import { KINDS } from "./lineups.js";
/** @import { Store } from "./store.js" */

const CLEAR = 18; // px kept free around the point
const STEP = 20; // px between the places that are tried
const EDGE = 8; // px kept free at the window's edge
const CELL = 8; // px: how finely the chart's marks are counted
/** @type {Record<string, number>} */
const WEIGHTS = { under: 1, unsure: 4, strong: 12, fair: 12 };
const FAR = 0.6; // what a px of distance counts, in marks
const REACH = 100; // px: how far from the point the card may stand
const OUTSIDE = 400; // what it counts to cover what is beside the chart: more than a few of its own marks

/** Of the chart's marks. `sum(left, top, width, height)`: how many a box hides.
 * @typedef {{ key: string, rows: ArrayLike<number>, sum: (left: number, top: number, width: number, height: number) => number }} Crowd */
/** A chart whose marks have cards: its element, where the mark of a row stands in it, in px, and the rows that it shows.
 * @typedef {{ element: HTMLElement, at: (row: number) => number[], rows: Iterable<number> & ArrayLike<number>, crowd?: Crowd }} Chart */

export class HoverCard {
  /** @param {Store} store @param {HTMLElement} element @param {HTMLElement} leader */
  constructor(store, element, leader) {
    this.store = store;
    this.element = element;
    this.leader = leader;
    this.ring = make("div", { class: "hover-ring", "aria-hidden": "true" });
    this.ring.hidden = true;
    leader.after(this.ring);
    this.row = -1;
    /** @type {Chart | null} */
    this.chart = null;
    store.on("filter data view line", () => this.hide());
  }

  /** Show the card of `row` beside its point. `chart`: {element, at(row) -> [x, y] in its px, rows}; -1 hides it.
   * @param {number} row @param {Chart | null} chart @param {string} [pointer] */
  show(row, chart, pointer = "mouse") {
    if (chart) chart.element.style.cursor = row >= 0 ? "pointer" : "";
    if (row < 0 || !chart || pointer === "touch") return this.hide();
    if (row === this.row && this.chart === chart) return undefined;
    this.fill(row);
    this.row = row;
    this.chart = chart;
    this.element.hidden = false;
    const bounds = chart.element.getBoundingClientRect();
    const [px, py] = chart.at(row);
    const point = [bounds.left + px, bounds.top + py];
    const [left, top] = this.place(point, bounds, chart);
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
    this.lead(point, [left, top]);
    return undefined;
  }

  /** [left, top] of the place within the window that hides the fewest marks, and of equal ones the nearest.
   * @param {number[]} point @param {DOMRect} bounds @param {Chart} chart */
  place([x, y], bounds, chart) {
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const marks = crowd(chart, this.store, bounds);
    const most = [document.documentElement.clientWidth - width - EDGE, window.innerHeight - height - EDGE];
    const reach = { x: [x - width - REACH, x + REACH], y: [y - height - REACH, y + REACH] };
    let [best, least] = [[EDGE, EDGE], Infinity];
    for (let top = Math.max(EDGE, reach.y[0]); top <= Math.min(most[1], reach.y[1]); top += STEP) {
      for (let left = Math.max(EDGE, reach.x[0]); left <= Math.min(most[0], reach.x[1]); left += STEP) {
        const beside = [Math.max(left - x, 0, x - left - width), Math.max(top - y, 0, y - top - height)];
        const distance = Math.hypot(...beside);
        if (distance < CLEAR) continue;
        const outside = left + width > bounds.right || left < bounds.left || top < bounds.top || top + height > bounds.bottom;
        const cost = marks(left - bounds.left, top - bounds.top, width, height) + FAR * distance + (outside ? OUTSIDE : 0);
        if (cost < least) [best, least] = [[left, top], cost];
      }
    }
    return best;
  }

  /** The line from the card's nearest edge to the point, and a ring around that.
   * @param {number[]} point @param {number[]} card */
  lead([x, y], [left, top]) {
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const from = [Math.min(left + width, Math.max(left, x)), Math.min(top + height, Math.max(top, y))];
    const [dx, dy] = [x - from[0], y - from[1]];
    const length = Math.max(0, Math.hypot(dx, dy) - 7);
    Object.assign(this.leader.style, {
      left: `${from[0]}px`, top: `${from[1]}px`, width: `${length}px`, transform: `rotate(${Math.atan2(dy, dx)}rad)`,
    });
    this.leader.hidden = false;
    Object.assign(this.ring.style, { left: `${x}px`, top: `${y}px` });
    this.ring.hidden = false;
  }

  hide() {
    this.element.hidden = true;
    this.leader.hidden = true;
    this.ring.hidden = true;
    this.row = -1;
  }

  /** @param {number} row */
  fill(row) {
    const { lineups, lined } = this.store;
    const { value, range } = lineups.textsOf(row, lined);
    const fresh = lineups.fresh.has(lineups.id[row]) ? "fresh battle" : "battle";
    const played = plural(lineups.samples[row] * this.store.battlesOfSample, fresh);
    this.element.replaceChildren(
      make("b", {}, lineups.name(row) || `Lineup ${lineups.id[row]}`),
      ...lineups.others(row).slice(0, 1).map(() => make("p", { class: "muted" }, lineups.others(row).join(", "))),
      make("p", { class: "with-mark" }, mark(KINDS[lineups.kind[row]]),
        make("span", {}, make("b", {}, value), ` ${inBrackets(range)} · ${played}`)),
      make("p", { class: "muted" }, "Enter opens it, S shortlists it"),
    );
  }
}

/** A function that tells how many marks of the chart, weighted by verdict, a box hides: sums over a grid, made once.
 * @param {Chart} chart @param {Pick<Store, "lineups" | "match">} store @param {DOMRect} bounds */
function crowd(chart, { lineups, match }, { width, height }) {
  const key = `${Math.round(width)}x${Math.round(height)}`;
  if (chart.crowd?.key === key && chart.crowd.rows === chart.rows) return chart.crowd.sum;
  const [columns, lines] = [Math.ceil(width / CELL) + 1, Math.ceil(height / CELL) + 1];
  const sums = new Float64Array((columns + 1) * (lines + 1));
  for (const row of chart.rows) {
    const [x, y] = chart.at(row);
    const [column, line] = [Math.floor(x / CELL), Math.floor(y / CELL)];
    if (column < 0 || line < 0 || column >= columns || line >= lines) continue;
    sums[(line + 1) * (columns + 1) + column + 1] += match[row] ? WEIGHTS[KINDS[lineups.kind[row]]] : 1;
  }
  for (let line = 1; line <= lines; line += 1) {
    for (let column = 1; column <= columns; column += 1) {
      const at = line * (columns + 1) + column;
      sums[at] += sums[at - 1] + sums[at - columns - 1] - sums[at - columns - 2];
    }
  }
  /** @param {number} value @param {number} most */
  const within = (value, most) => Math.min(most, Math.max(0, Math.round(value / CELL)));
  /** @type {Crowd["sum"]} */
  const sum = (left, top, w, h) => {
    const [a, b] = [within(left, columns), within(left + w, columns)];
    const [c, d] = [within(top, lines), within(top + h, lines)];
    /** @param {number} line @param {number} column */
    const at = (line, column) => sums[line * (columns + 1) + column];
    return at(d, b) - at(c, b) - at(d, a) + at(c, a);
  };
  chart.crowd = { key, rows: chart.rows, sum };
  return sum;
}
