// Three objectives as a cloud that turns. Made when it is first asked for; draws what is over the line and a sample.
// What is over the line and strong lies on top, whatever stands before it, and of that what fresh battles confirm. Drag, buttons or arrow keys turn it; up and
// down walk through the matching lineups, Enter opens one.
import { axisTitle, decimals, plural, titleLines, whole } from "../charts/format.js";
import { tokens } from "../charts/theme.js";
import { split } from "./cloud.js";
import { drawable } from "./dom.js";
import { find, findAll, make } from "../elements.js";
import { UNDER } from "./lineups.js";
import { Projection, ticks } from "./projection.js";
import { sprites } from "./sprites.js";
/** @import { Chart, HoverCard } from "./hover.js" */
/** @import { Rows } from "./order.js" */
/** @import { Point } from "./panel.js" */
/** @import { Place } from "./projection.js" */
/** @import { Store } from "./store.js" */

/** Opens a row; by key, the keyboard goes there too. @typedef {(row: number, byKey?: boolean) => void} Open */

const MOST_MARKS = 6000;
const MOST_DOTS = 3000;
const TURN = Math.PI / 12;
const TILT = { usual: 0.38, least: 0.1, most: 1.3 };
const ROOM = 0.06; // share of the range left free at both ends
const DRAG_PX = 5;
const REACH = 12; // px around the pointer
const DOT_REACH = 5;
const NARROW = 480;

/** At most `most` of `rows`, evenly spread.
 * @param {Rows} rows @param {number} most @returns {Rows} */
export function spread(rows, most) {
  if (rows.length <= most) return rows;
  const step = rows.length / most;
  return Uint32Array.from({ length: most }, (_, i) => rows[Math.floor(i * step)]);
}

/** At most about `most` of `rows`, evenly spread, and of these all that are `wanted`.
 * @param {Rows} rows @param {number} most @param {Set<number>} wanted @returns {Rows} */
export function spreadWith(rows, most, wanted) {
  const some = spread(rows, most);
  if (some.length === rows.length) return rows;
  const drawn = new Set(some);
  return Uint32Array.from([...some, ...rows.filter((row) => wanted.has(row) && !drawn.has(row))]);
}

/** The rows that are drawn; of the marks `confirmed` by fresh battles. @typedef {{ marks: Rows, dots: Rows, confirmed: Set<number> }} Shown */

/** What arrow keys do. @type {Record<string, number>} */
const TURNS = { ArrowLeft: TURN, ArrowRight: -TURN };
/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

export class ThreeD {
  /** @param {Store} store @param {HTMLElement} element @param {HTMLElement} note
   * @param {{ hover: HoverCard, open: Open, say: (words: string) => void }} page */
  constructor(store, element, note, { hover, open, say }) {
    this.store = store;
    this.element = element;
    this.note = note;
    this.hover = hover;
    this.open = open;
    this.say = say;
    this.angle = -0.7;
    this.tilt = TILT.usual;
    this.active = -1;
    this.due = 0;
    this.theme = tokens();
    /** @type {Shown | null} */
    this.shown = null;
    /** @type {HTMLCanvasElement | null} */
    this.canvas = null;
    this.rows = new Uint32Array(0);
    this.view = new Projection([[0, 1], [0, 1], [0, 1]], { angle: 0, tilt: 0, width: 1, height: 1, margin: { x: 0, y: 0 } });
    /** @type {Chart | null} */
    this.chart = null;
    this.plot = find(element, "[data-plot]");
    for (const button of findAll(element, "[data-turn]")) {
      button.addEventListener("click", () => this.turn(Number(button.dataset.turn) * TURN));
    }
    store.on("filter data line", () => (this.shown = null));
    store.on("filter data pick rows colour view line", () => this.soon());
    document.addEventListener("equipoise:theme", () => this.soon());
    new ResizeObserver(() => this.soon()).observe(this.plot);
    this.listen();
  }

  get wanted() {
    return this.store.state.view === "3d" && this.store.lineups.objectives.length > 2 && this.store.lineups.count > 0;
  }

  get axes() {
    const { strength, lined, lineups } = this.store;
    const rest = [...lineups.objectives.keys()].filter((j) => j !== strength && j !== lined);
    return [strength >= 0 && strength !== lined ? strength : (rest.pop() ?? 0), rest[0] ?? 0, lined];
  }

  /** One drawing a frame, however much changes. */
  soon() {
    if (!this.wanted) return;
    cancelAnimationFrame(this.due);
    this.due = requestAnimationFrame(() => this.draw());
  }

  choose() {
    const { lineups, match } = this.store;
    const { marks } = split(this.store);
    const rest = Uint32Array.from(match.keys()).filter((i) => !(match[i] && lineups.kind[i] !== UNDER));
    const confirmed = new Set(lineups.confirmed);
    const shown = { marks: spreadWith(marks, MOST_MARKS, confirmed), dots: spread(rest, MOST_DOTS), confirmed };
    this.rows = Uint32Array.from([...shown.dots, ...shown.marks]);
    const what = `${plural(marks.length, "matching lineup")} ${lineups.hasLine ? `that ${this.store.claim(marks.length)}` : "at the edge"}`;
    this.note.textContent = `Drawn: ${whole(shown.marks.length)} of ${what}, and a sample of ${whole(shown.dots.length)} of the ${whole(rest.length)} others.`;
    return shown;
  }

  draw() {
    if (!this.wanted || !this.plot.clientWidth) return;
    const canvas = (this.canvas ??= this.plot.appendChild(make("canvas", { "aria-hidden": "true" })));
    const shown = (this.shown ??= this.choose());
    const { clientWidth: width, clientHeight: height } = this.plot;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const margin = width < NARROW ? { x: 34, y: 58, down: -20 } : { x: 90, y: 44, down: -6 };
    this.view = new Projection(this.axes.map((j) => this.room(j)), { angle: this.angle, tilt: this.tilt, width, height, margin });
    this.theme = tokens();
    const c = drawable(canvas.getContext("2d"));
    c.scale(ratio, ratio);
    this.box(c);
    this.marks(c, ratio, shown);
    this.element.dataset.drawn = String(this.rows.length); // tests wait for it
    this.chart = { element: canvas, at: (row) => this.at(row), rows: this.rows };
  }

  /** A little more than the values take; the line always included.
   * @param {number} j @returns {[low: number, high: number]} */
  room(j) {
    const { lineups } = this.store;
    const line = lineups.objectives[j].threshold;
    let [low, high] = lineups.extent[j];
    if (line !== null) [low, high] = [Math.min(low, line), Math.max(high, line)];
    const more = ROOM * (high - low || Math.abs(high) || 1);
    return [low - more, high + more];
  }

  /** @param {number} row */
  at(row) {
    return this.view.place(this.axes.map((j) => this.store.lineups.value[j][row]));
  }

  // ---- the box: three faces behind the cloud, their grid, ticks and titles ----

  /** @param {CanvasRenderingContext2D} c */
  box(c) {
    const { view, theme } = this;
    const [u, v] = view.behind();
    c.lineWidth = 1;
    c.font = `12px ${theme.font}`;
    this.axes.forEach((j, k) => {
      const { values, digits } = ticks(view.ranges[k], 5);
      for (const value of values) {
        const share = view.share(k, value);
        /** @type {[Place, Place, Place][]} */
        const faces = [
          [[share, v, 0], [share, v, 1], [share, 1 - v, 0]],
          [[u, share, 0], [u, share, 1], [1 - u, share, 0]],
          [[u, v, share], [1 - u, v, share], [u, 1 - v, share]],
        ];
        const [corner, up, along] = faces[k];
        this.line(c, theme.grid, corner, up);
        this.line(c, theme.grid, corner, along);
        this.tick(c, k, share, decimals(value, digits));
      }
      this.line(c, theme["control-edge"], this.edge(k, 0), this.edge(k, 1));
      this.title(c, k, axisTitle(this.store.lineups.objectives[j]));
    });
    this.level(c, u, v);
  }

  /** A place on the edge of the box along which axis `k` has its ticks: the floor's near edges, and the upright on the left.
   * @param {number} k @param {number} share @returns {Place} */
  edge(k, share) {
    const { view } = this;
    const [u, v] = view.behind();
    if (k === 0) return [share, 1 - v, 0];
    if (k === 1) return [1 - u, share, 0];
    return view.at(u, 1 - v, 0)[0] < view.at(1 - u, v, 0)[0] ? [u, 1 - v, share] : [1 - u, v, share];
  }

  /** @param {CanvasRenderingContext2D} c
   * @param {string} colour
   * @param {Place} from
   * @param {Place} to
   * @param {number[]} [dash] */
  line(c, colour, from, to, dash = []) {
    const [a, b] = [this.view.at(...from), this.view.at(...to)];
    c.setLineDash(dash);
    c.strokeStyle = colour;
    c.beginPath();
    c.moveTo(a[0], a[1]);
    c.lineTo(b[0], b[1]);
    c.stroke();
    c.setLineDash([]);
  }

  /** The line of the objective that stands upright, around the faces behind.
   * @param {CanvasRenderingContext2D} c @param {number} u @param {number} v */
  level(c, u, v) {
    const objective = this.store.lineups.objectives[this.axes[2]];
    if (objective.threshold === null) return;
    const share = this.view.share(2, objective.threshold);
    this.line(c, this.theme.ink, [u, v, share], [1 - u, v, share], [5, 4]);
    this.line(c, this.theme.ink, [u, v, share], [u, 1 - v, share], [5, 4]);
  }

  /** @param {CanvasRenderingContext2D} c @param {number} k @param {number} share @param {string} text */
  tick(c, k, share, text) {
    const [x, y] = this.view.at(...this.edge(k, share));
    const [dx, dy] = this.outward(k);
    c.fillStyle = this.theme.muted;
    c.textAlign = k === 2 ? "right" : "center";
    c.textBaseline = k === 2 ? "middle" : "top";
    c.fillText(text, x + 10 * dx, y + (k === 2 ? 0 : 6 + 4 * Math.abs(dy)));
  }

  /** Which way is out of the box, at the edge of axis `k`.
   * @param {number} k */
  outward(k) {
    if (k === 2) return [-1, 0];
    const [x, y] = this.view.at(...this.edge(k, 0.5));
    const [mx, my] = this.view.at(0.5, 0.5, 0);
    const length = Math.hypot(x - mx, y - my) || 1;
    return [(x - mx) / length, (y - my) / length];
  }

  /** The title in words, below the middle of its edge; the upright axis's above its end.
   * @param {CanvasRenderingContext2D} c @param {number} k @param {string} words */
  title(c, k, words) {
    const { width, height } = this.view;
    const lines = titleLines(words, k === 2 ? 220 : Math.min(220, width / 2 - 12)).flatMap((line) => line.split("  "));
    const [x, y] = this.view.at(...this.edge(k, k === 2 ? 1 : 0.5));
    const [dx, dy] = this.outward(k);
    const wide = Math.max(...lines.map((text) => c.measureText(text).width)) / 2;
    const middle = Math.min(width - wide - 4, Math.max(wide + 4, k === 2 ? x : x + (34 + wide) * dx));
    const top = k === 2 ? y - 18 - 15 * (lines.length - 1) : Math.min(height - 15 * lines.length - 2, y + (width < NARROW ? 30 : 12) + 18 * Math.abs(dy));
    c.fillStyle = this.theme.ink;
    c.textAlign = "center";
    c.textBaseline = "top";
    lines.forEach((text, i) => c.fillText(text, middle, top + 15 * i));
  }

  // ---- marks ----

  /** @param {CanvasRenderingContext2D} c @param {number} ratio @param {Shown} shown */
  marks(c, ratio, shown) {
    const { lineups, match, state } = this.store;
    const image = sprites(this.store, this.theme, { ratio, many: shown.marks.length, confirmed: shown.confirmed });
    const put = (/** @type {number} */ row) => {
      const [x, y] = this.at(row);
      const { canvas, size } = image(row);
      c.drawImage(canvas, x - size / 2, y - size / 2, size, size);
    };
    for (const row of shown.dots) {
      const [x, y] = this.at(row);
      c.globalAlpha = match[row] ? 0.8 : 0.35;
      c.fillStyle = match[row] ? this.theme.muted : this.theme["context-mark"];
      c.fillRect(x - 1.2, y - 1.2, 2.4, 2.4);
    }
    c.globalAlpha = 1;
    const away = new Map(Array.from(shown.marks, (row) => [row, this.at(row)[2]]));
    const over = (/** @type {number} */ row) => lineups.kind[row] + 4 * Number(shown.confirmed.has(row));
    /** @param {number} a @param {number} b */
    const far = (a, b) => over(a) - over(b) || (away.get(b) ?? 0) - (away.get(a) ?? 0);
    for (const row of Array.from(shown.marks).sort(far)) put(row); // by verdict, so that none hides a worse one
    for (const id of state.rows) if (lineups.row(id) >= 0) this.ring(c, lineups.row(id), 6, this.theme.accent);
    if (this.active >= 0) this.ring(c, this.active, 9, this.theme.accent);
    if (this.store.picked < 0) return;
    this.whiskers(c, this.store.picked);
    put(this.store.picked);
    this.ring(c, this.store.picked, 12, this.theme.ink);
  }

  /** @param {CanvasRenderingContext2D} c @param {number} row @param {number} radius @param {string} colour */
  ring(c, row, radius, colour) {
    const [x, y] = this.at(row);
    c.strokeStyle = colour;
    c.lineWidth = 1.8;
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.stroke();
  }

  /** @param {CanvasRenderingContext2D} c @param {number} row */
  whiskers(c, row) {
    const { lineups } = this.store;
    const values = this.axes.map((j) => lineups.value[j][row]);
    c.lineWidth = 1.8;
    this.axes.forEach((j, k) => {
      const range = lineups.range(row, j);
      if (!range) return;
      const [from, to] = range.map((end) => values.map((value, i) => this.view.share(i, i === k ? end : value)));
      this.line(c, this.theme.ink, [from[0], from[1], from[2]], [to[0], to[1], to[2]]);
    });
  }

  // ---- pointer and keys ----

  /** The lineup nearest to a place, or -1; marks are easier to hit than dots, the worse ones before others.
   * @param {number} px @param {number} py */
  nearest(px, py) {
    if (!this.chart) return -1;
    let [best, score] = [-1, Infinity];
    for (const row of this.rows) {
      const [x, y] = this.at(row);
      const distance = Math.hypot(x - px, y - py);
      const marked = this.store.match[row] && this.store.lineups.kind[row] !== UNDER;
      if (distance > (marked ? REACH : DOT_REACH)) continue;
      const worth = distance - (marked ? 2 + 2 * this.store.lineups.kind[row] : 0);
      if (worth < score) [best, score] = [row, worth];
    }
    return best;
  }

  /** @param {number} by @param {number} [up] */
  turn(by, up = 0) {
    this.angle += by;
    this.tilt = Math.min(TILT.most, Math.max(TILT.least, this.tilt + up));
    this.hover.hide();
    this.soon();
  }

  listen() {
    /** Where a drag began, and where the pointer was last. @type {Point | null} */
    let start = null;
    /** @type {Point} */
    let last = [0, 0];
    let [dragging, pointed] = [false, -1];
    /** @param {MouseEvent} event @returns {Point} */
    const place = (event) => {
      const bounds = this.plot.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    this.plot.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      [start, last, dragging] = [place(event), place(event), false];
    });
    this.plot.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (!start) {
        pointed = this.nearest(...at);
        return this.hover.show(pointed, this.chart, event.pointerType);
      }
      dragging ||= Math.hypot(at[0] - start[0], at[1] - start[1]) > DRAG_PX;
      if (dragging && !this.plot.hasPointerCapture(event.pointerId)) this.plot.setPointerCapture(event.pointerId);
      if (dragging) this.turn((last[0] - at[0]) / 160, event.pointerType === "touch" ? 0 : (at[1] - last[1]) / 220);
      last = at;
      return undefined;
    });
    const end = () => (start = null);
    this.plot.addEventListener("pointerup", end);
    this.plot.addEventListener("pointercancel", end);
    this.plot.addEventListener("pointerleave", () => start || this.hover.hide());
    this.plot.addEventListener("click", (event) => {
      const row = dragging ? -1 : pointed >= 0 ? pointed : this.nearest(...place(event));
      [dragging, pointed] = [false, -1];
      if (row < 0) return;
      this.hover.hide();
      this.open(row); // the one whose card was shown
    });
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => this.point(-1));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in TURNS) this.turn(TURNS[event.key]);
    else if (event.key in STEPS) this.walk(STEPS[event.key]);
    else if (event.key === "Enter" && this.active >= 0) this.open(this.active, true);
    else return;
    event.preventDefault();
  }

  /** To the next or previous lineup in the order of the table.
   * @param {number} step */
  walk(step) {
    const { order } = this.store;
    if (!order.length) return;
    const place = this.active < 0 ? (step > 0 ? 0 : order.length - 1) : this.store.placeOf(this.active) + step;
    this.point(order[Math.min(order.length - 1, Math.max(0, place))]);
  }

  /** @param {number} row */
  point(row) {
    this.active = row;
    this.draw();
    this.hover.show(row, this.chart);
    if (row < 0) return;
    const { lineups, lined } = this.store;
    this.say(`${lineups.name(row)}, ${lineups.textsOf(row, lined).value}`);
  }
}
