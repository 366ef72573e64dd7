// Parallel lines: one line a lineup, one upright axis an objective. Draws some of each verdict, the worst on top, and says
// how many; what a drag along an axis leaves out stays behind, faint.
import { make } from "../elements.js";
import { axisTitle, decimals, titleLines, whole } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { faded, tokens } from "../charts/theme.js";
import { PAD } from "./cloud.js";
import { drawable } from "./dom.js";
import { BEST, STRONG, UNDER, UNSURE } from "./lineups.js";
import { sprites } from "./sprites.js";
import { spread, spreadWith } from "./three_d.js";
/** @import { Chart, HoverCard } from "./hover.js" */
/** @import { Rows } from "./order.js" */
/** @import { Point } from "./panel.js" */
/** @import { Store } from "./store.js" */
/** @import { Open } from "./three_d.js" */

/** Some of what does not match, of each kind `all` rows and those that are drawn, and which of these are confirmed.
 * @typedef {{ behind: Rows, groups: { kind: number, all: Rows, rows: Rows }[], confirmed: number[] }} Drawn */

const MOST = 160; // lines of one verdict: more would be a solid area
const MOST_BEHIND = 240; // faint lines of what does not match
const SOLID = 26; // as many lines are drawn at full strength; more of them fainter, so that crowds can be told from few
const MARGIN = { l: 84, r: 84, t: 31, b: 28 }; // and a title of one line or more above
const LINE = 16; // px of a line of a title
const NARROWEST = MARGIN.l + MARGIN.r + 40; // px: in less there is nothing to see
const DRAG_PX = 4;
const NEAR_PX = 28;

export class Parallel {
  /** @param {Store} store @param {HTMLElement} element @param {HTMLElement} note @param {{ hover: HoverCard, open: Open }} page */
  constructor(store, element, note, { hover, open }) {
    this.store = store;
    this.element = element;
    this.note = note;
    this.hover = hover;
    this.open = open;
    this.over = -1;
    this.theme = tokens();
    this.size = [0, 0];
    /** px above the axes. */
    this.above = MARGIN.t;
    /** Of the axes, in lines. @type {string[][]} */
    this.titles = [];
    /** The rows whose lines are drawn; null before the first drawing. @type {number[] | null} */
    this.shown = null;
    this.axes = element.appendChild(make("div", { class: "panel-axes", "aria-hidden": "true" }));
    this.canvas = element.appendChild(make("canvas", { class: "panel-marks", "aria-hidden": "true" }));
    this.top = element.appendChild(make("canvas", { class: "panel-marks", "aria-hidden": "true" }));
    this.box = element.appendChild(make("div", { class: "panel-brush", "aria-hidden": "true", hidden: true }));
    store.on("filter data view line", () => this.draw());
    store.on("pick rows", () => this.wanted && this.paintTop());
    document.addEventListener("equipoise:theme", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(element);
    this.listen();
  }

  get order() {
    const { lined, lineups } = this.store;
    return [lined, ...lineups.objectives.keys()].filter((j, i, all) => all.indexOf(j) === i);
  }

  /** Every axis points to more of what is looked for: upwards.
   * @param {number} j @param {number} value */
  height(j, value) {
    const [low, high] = this.store.lineups.extent[j];
    const share = (value - low) / (high - low || 1);
    return this.store.lineups.objectives[j].direction === "max" ? share : 1 - share;
  }

  /** What is drawn: [{kind, all, rows}] from what is drawn first to what lies on top, and a sample of what does not match. */
  groups() {
    const { lineups, match, order } = this.store;
    const of = (/** @type {number} */ kind) => order.filter((row) => lineups.kind[row] === kind);
    const groups = [UNDER, BEST, UNSURE, STRONG].map((kind) => ({ kind, all: of(kind) })).filter(({ all }) => all.length);
    const rest = this.store.every.filter((row) => !match[row]);
    const sure = new Set(lineups.confirmed);
    return {
      behind: spread(rest, MOST_BEHIND),
      groups: groups.map(({ kind, all }) => ({ kind, all, rows: spreadWith(all, MOST, sure) })),
      confirmed: [...sure].filter((row) => match[row]),
    };
  }

  get wanted() {
    return this.store.state.view === "lines" && this.element.clientWidth >= NARROWEST && this.store.lineups.count > 0;
  }

  draw() {
    if (!this.wanted) return;
    this.theme = tokens();
    const wide = this.element.clientWidth - MARGIN.l - MARGIN.r;
    this.titles = this.order.map((j) => titleLines(
      axisTitle(this.store.lineups.objectives[j]).replace("← ", "↑ ").replace("→ ", "↑ "),
      Math.min(170, wide / Math.max(1, this.order.length - 1)),
    ));
    this.above = MARGIN.t + LINE * Math.max(3, ...this.titles.map((lines) => lines.length));
    this.size = [wide, this.element.clientHeight - this.above - MARGIN.b];
    const drawn = this.groups();
    this.shown = drawn.groups.flatMap(({ rows }) => [...rows]);
    this.sayDrawn(drawn);
    this.paint(drawn);
    this.paintTop();
    this.plot();
  }

  /** @param {Drawn} drawn */
  sayDrawn({ groups, behind }) {
    const { words, hasLine } = this.store.lineups;
    /** @type {Record<number, string>} */
    const names = { [UNDER]: hasLine ? words.under : "others", [UNSURE]: words.unsure, [STRONG]: words.strong, [BEST]: "best trade-offs" };
    const counts = groups.toReversed().map(({ kind, all, rows }) =>
      `${names[kind].toLowerCase()} ${rows.length === all.length ? `all ${whole(all.length)}` : `${whole(rows.length)} of ${whole(all.length)}`}`);
    const faint = behind.length ? ". Faint: some that do not match" : "";
    this.note.textContent = counts.length ? `Drawn: ${counts.join(", ")}${faint}. Drag along an axis to filter by it.` : `Nothing matches${faint}.`;
  }

  /** @param {number} row @returns {Point[]} */
  points(row) {
    const [w, h] = this.size;
    const order = this.order;
    return order.map((j, k) => [PAD + (w * k) / Math.max(1, order.length - 1), PAD + h * (1 - this.height(j, this.store.lineups.value[j][row]))]);
  }

  /** A canvas of the chart's size, cleared.
   * @param {HTMLCanvasElement} canvas */
  blank(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = this.size.map((s) => s + 2 * PAD);
    [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
    Object.assign(canvas.style, { left: `${MARGIN.l - PAD}px`, top: `${this.above - PAD}px`, width: `${w}px`, height: `${h}px` });
    const c = drawable(canvas.getContext("2d"));
    c.scale(ratio, ratio);
    c.lineJoin = "round";
    return c;
  }

  /** @param {CanvasRenderingContext2D} c @param {number} row @param {string} colour @param {number} width */
  stroke(c, row, colour, width) {
    c.beginPath();
    c.strokeStyle = colour;
    c.lineWidth = width;
    this.points(row).forEach((point, k) => (k ? c.lineTo(...point) : c.moveTo(...point)));
    c.stroke();
  }

  /** @param {Drawn} drawn */
  paint({ groups, behind, confirmed }) {
    const { theme } = this;
    const c = this.blank(this.canvas);
    for (const row of behind) this.stroke(c, row, faded(theme["context-mark"], 0.12), 1);
    /** @type {Record<number, string>} */
    const colours = { [UNDER]: theme["context-mark"], [UNSURE]: theme["unsure-mark"], [STRONG]: theme.over, [BEST]: theme.accent };
    for (const { kind, rows } of groups) {
      const opacity = Math.min(0.9, Math.max(0.2, Math.sqrt(SOLID / rows.length) * (kind === STRONG || kind === BEST ? 0.8 : 0.6)));
      for (const row of rows) this.stroke(c, row, faded(colours[kind], opacity), 1.2);
    }
    this.confirmed(c, confirmed);
  }

  /** What fresh battles confirm: a line at full strength, and its mark on the first axis.
   * @param {CanvasRenderingContext2D} c @param {number[]} rows */
  confirmed(c, rows) {
    const { lineups, state } = this.store;
    for (const row of rows) this.stroke(c, row, this.theme.over, 1.6);
    const how = { ratio: window.devicePixelRatio || 1, many: rows.length, confirmed: new Set(rows) };
    const image = sprites({ lineups, state: { ...state, colour: "verdict" } }, this.theme, how);
    for (const row of rows) {
      const { canvas, size } = image(row);
      const [x, y] = this.points(row)[0];
      c.drawImage(canvas, x - size / 2, y - size / 2, size, size);
    }
  }

  /** What is ticked, under the pointer, and open: on a canvas of its own, for it changes with every move. */
  paintTop() {
    const { lineups, state } = this.store;
    const c = this.blank(this.top);
    for (const id of state.rows) if (lineups.row(id) >= 0) this.stroke(c, lineups.row(id), this.theme.accent, 2);
    for (const row of [this.over, this.store.picked]) {
      if (row < 0) continue;
      this.stroke(c, row, this.theme.surface, 6);
      this.stroke(c, row, this.theme.ink, row === this.over ? 2 : 3);
    }
  }

  plot() {
    const { theme, order } = this;
    const { lineups, state } = this.store;
    const last = Math.max(1, order.length - 1);
    /** @type {Plotly.Shape[]} */
    const shapes = [];
    /** @type {Plotly.Annotation[]} */
    const annotations = [];
    order.forEach((j, k) => {
      const objective = lineups.objectives[j];
      shapes.push({ type: "line", xref: "x", yref: "paper", x0: k, x1: k, y0: 0, y1: 1, line: { color: theme["control-edge"], width: 1 } });
      const { threshold, name } = objective;
      if (threshold !== null) {
        const y = this.height(j, threshold);
        shapes.push({ type: "line", xref: "x", yref: "y", x0: k - 0.06, x1: k + 0.06, y0: y, y1: y, line: { color: theme.ink, width: 1.6, dash: "4px,3px" } });
        annotations.push(this.words(k, y, "the line", theme.ink, k === last ? "left" : "right"));
      }
      if (state.min[name] !== undefined || state.max[name] !== undefined) {
        const ends = [state.min[name] ?? lineups.extent[j][0], state.max[name] ?? lineups.extent[j][1]].map((v) => Math.min(1, Math.max(0, this.height(j, v))));
        shapes.push({ type: "line", xref: "x", yref: "y", x0: k, x1: k, y0: ends[0], y1: ends[1], line: { color: theme.accent, width: 5 } });
      }
      const [low, high] = lineups.extent[j].map((v) => decimals(v, objective.digits));
      const up = objective.direction === "max";
      annotations.push(this.words(k, 0, up ? low : high, theme.muted, "center", -12), this.words(k, 1, up ? high : low, theme.muted, "center", 10));
    });
    const layout = {
      width: this.element.clientWidth, height: this.element.clientHeight, margin: { ...MARGIN, t: this.above }, showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.ink, size: 12 },
      xaxis: { range: [0, last], tickvals: [], showgrid: false, zeroline: false, showline: false, fixedrange: true },
      yaxis: { range: [0, 1], visible: false, fixedrange: true }, shapes,
      annotations: [...annotations, ...this.titles.map((lines, k) => ({ x: k, y: 1, xref: "x", yref: "paper", text: lines.join("<br>"), showarrow: false, yanchor: "bottom", yshift: 20, font: { size: 12, color: theme.ink } }))],
    };
    plotly().then((Plotly) => Plotly.react(this.axes, [{ type: "scatter", x: [null], y: [null] }], layout, { staticPlot: true, displayModeBar: false }));
  }

  /** @param {number} x
   * @param {number} y
   * @param {string} text
   * @param {string} color
   * @param {string} xanchor
   * @param {number} [yshift]
   * @returns {Plotly.Annotation} */
  words(x, y, text, color, xanchor, yshift = 0) {
    return { x, y, xref: "x", yref: "y", text, showarrow: false, xanchor, yshift, xshift: xanchor === "right" ? -12 : xanchor === "left" ? 12 : 0, font: { size: 12, color } };
  }

  // ---- pointer: a drag along an axis sets the bounds of its objective, a click opens the nearest line ----

  listen() {
    /** @type {Point | null} */
    let start = null;
    /** @param {MouseEvent} event @returns {Point} */
    const place = (event) => {
      const bounds = this.top.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    this.top.addEventListener("pointermove", (event) => this.pointAt(start ? -1 : this.near(place(event)), place(event), event.pointerType));
    this.top.addEventListener("pointerleave", () => this.pointAt(-1));
    this.top.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch" || !this.shown) return;
      start = place(event);
      this.top.setPointerCapture(event.pointerId);
    });
    this.top.addEventListener("pointerup", (event) => {
      if (!start) return;
      const [from, to] = [start, place(event)];
      start = null;
      if (Math.abs(to[1] - from[1]) > DRAG_PX) this.brush(from, to);
      else this.pick(to);
    });
  }

  /** @param {Point} from @param {Point} to */
  brush(from, to) {
    const [w, h] = this.size;
    const k = Math.round(((from[0] - PAD) / w) * Math.max(1, this.order.length - 1));
    const x = PAD + (w * k) / Math.max(1, this.order.length - 1);
    if (Math.abs(from[0] - x) > NEAR_PX) return;
    const j = this.order[k];
    const { name, digits, direction } = this.store.lineups.objectives[j];
    const [low, high] = this.store.lineups.extent[j];
    const values = [from[1], to[1]].map((y) => {
      const share = Math.min(1, Math.max(0, 1 - (y - PAD) / h));
      return Number((low + (direction === "max" ? share : 1 - share) * (high - low)).toFixed(digits + 1));
    });
    const { min, max } = this.store.state;
    this.store.set({ min: { ...min, [name]: Math.min(...values) }, max: { ...max, [name]: Math.max(...values) } });
  }

  /** @param {Point} at */
  pick(at) {
    const row = this.near(at);
    if (row >= 0) this.open(row);
  }

  /** The card and a strong line for what the pointer is on.
   * @param {number} row @param {Point} [at] @param {string} [pointer] */
  pointAt(row, at = [0, 0], pointer = "mouse") {
    if (row !== this.over) {
      this.over = row;
      if (this.wanted) this.paintTop();
    }
    const middle = Math.floor(this.order.length / 2);
    /** @type {Chart} */
    const chart = { element: this.top, at: (other) => (other === row ? at : this.points(other)[middle]), rows: this.shown ?? [] };
    if (row !== this.hover.row) this.hover.show(row, chart, pointer);
  }

  /** The lineup whose line passes nearest to a place, or -1; the last drawn of equal ones, for it lies on top.
   * @param {Point} at */
  near([px, py]) {
    let [best, least] = [-1, 8];
    for (const row of this.shown ?? []) {
      const points = this.points(row);
      for (let k = 0; k + 1 < points.length; k += 1) {
        const [[ax, ay], [bx, by]] = [points[k], points[k + 1]];
        if (px < ax || px > bx) continue;
        const distance = Math.abs(ay + ((by - ay) * (px - ax)) / (bx - ax) - py);
        if (distance <= least) [best, least] = [row, distance];
      }
    }
    return best;
  }
}
