// Parallel lines: one line a lineup, one upright axis an objective. Draws the front and a sample, and says so.
import { axisTitle, decimals, plural, whole } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { faded, tokens } from "../charts/theme.js";
import { PAD } from "./cloud.js";
import { make } from "./dom.js";
import { BEST, STRONG, UNDER, UNSURE } from "./lineups.js";
import { spread } from "./three_d.js";

const MOST_BEST = 300;
const MOST_SAMPLE = 500;
const MARGIN = { l: 84, r: 84, t: 62, b: 28 };
const NARROWEST = MARGIN.l + MARGIN.r + 40; // px: in less there is nothing to see
const DRAG_PX = 4;
const NEAR_PX = 28;

export class Parallel {
  constructor(store, element, note, hover) {
    Object.assign(this, { store, element, note, hover });
    this.axes = element.appendChild(make("div", { class: "panel-axes", "aria-hidden": "true" }));
    this.canvas = element.appendChild(make("canvas", { class: "panel-marks", "aria-hidden": "true" }));
    this.box = element.appendChild(make("div", { class: "panel-brush", "aria-hidden": "true", hidden: true }));
    store.on("filter data pick rows view", () => this.draw());
    document.addEventListener("equipoise:theme", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(element);
    this.listen();
  }

  get order() {
    const { lined, lineups } = this.store;
    return [lined, ...lineups.objectives.keys()].filter((j, i, all) => all.indexOf(j) === i);
  }

  /** Every axis points to more of what is looked for: upwards. */
  height(j, value) {
    const [low, high] = this.store.lineups.extent[j];
    const share = (value - low) / (high - low || 1);
    return this.store.lineups.objectives[j].direction === "max" ? share : 1 - share;
  }

  rows() {
    const { lineups, order } = this.store;
    const best = order.filter((row) => lineups.best[row]);
    const rest = order.filter((row) => !lineups.best[row]);
    return { best, rest, shownBest: spread(best, MOST_BEST), sample: spread(rest, MOST_SAMPLE) };
  }

  draw() {
    const { lineups, state } = this.store;
    if (state.view !== "lines" || this.element.clientWidth < NARROWEST || !lineups.count) return;
    this.theme = tokens();
    this.size = [this.element.clientWidth - MARGIN.l - MARGIN.r, this.element.clientHeight - MARGIN.t - MARGIN.b];
    const { best, rest, shownBest, sample } = this.rows();
    this.shown = [...sample, ...shownBest];
    this.note.textContent = `Drawn: ${shownBest.length === best.length ? `all ${whole(best.length)}` : `${whole(shownBest.length)} of ${whole(best.length)}`} matching best trade-offs (thick), and ${sample.length === rest.length ? `the other ${plural(rest.length, "match", "matches")}` : `a sample of ${whole(sample.length)} of the other ${plural(rest.length, "match", "matches")}`} (thin).`;
    this.paint();
    this.plot();
  }

  points(row) {
    const [w, h] = this.size;
    const order = this.order;
    return order.map((j, k) => [PAD + (w * k) / Math.max(1, order.length - 1), PAD + h * (1 - this.height(j, this.store.lineups.value[j][row]))]);
  }

  paint() {
    const { lineups, state } = this.store;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = this.size.map((s) => s + 2 * PAD);
    [this.canvas.width, this.canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
    Object.assign(this.canvas.style, { left: `${MARGIN.l - PAD}px`, top: `${MARGIN.t - PAD}px`, width: `${w}px`, height: `${h}px` });
    const c = this.canvas.getContext("2d");
    c.scale(ratio, ratio);
    c.lineJoin = "round";
    const { theme } = this;
    const colours = [theme["context-mark"], theme["unsure-mark"], theme.over, theme.accent];
    const line = (row, colour, width) => {
      c.beginPath();
      c.strokeStyle = colour;
      c.lineWidth = width;
      this.points(row).forEach((point, k) => (k ? c.lineTo(...point) : c.moveTo(...point)));
      c.stroke();
    };
    for (const kind of [UNDER, UNSURE, STRONG, BEST]) {
      for (const row of this.shown) {
        if (lineups.kind[row] !== kind) continue;
        if (lineups.best[row]) line(row, colours[kind], 2.2);
        else line(row, faded(colours[kind], 0.28), 1);
      }
    }
    for (const id of state.rows) if (lineups.row(id) >= 0) line(lineups.row(id), theme.accent, 2);
    if (this.store.picked >= 0) line(this.store.picked, theme.ink, 3);
  }

  plot() {
    const { theme, order } = this;
    const { lineups, state } = this.store;
    const last = Math.max(1, order.length - 1);
    const shapes = [];
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
    const titles = order.map((j) => axisTitle(lineups.objectives[j], false).replace("← ", "↑ ").replace("→ ", "↑ ").replace("  ", "<br>"));
    const layout = {
      width: this.element.clientWidth, height: this.element.clientHeight, margin: MARGIN, showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.ink, size: 12 },
      xaxis: { range: [0, last], tickvals: [], showgrid: false, zeroline: false, showline: false, fixedrange: true },
      yaxis: { range: [0, 1], visible: false, fixedrange: true }, shapes,
      annotations: [...annotations, ...titles.map((text, k) => ({ x: k, y: 1, xref: "x", yref: "paper", text, showarrow: false, yanchor: "bottom", yshift: 20, font: { size: 12, color: theme.ink } }))],
    };
    plotly().then((Plotly) => Plotly.react(this.axes, [{ type: "scatter", x: [null], y: [null] }], layout, { staticPlot: true, displayModeBar: false }));
  }

  words(x, y, text, color, xanchor, yshift = 0) {
    return { x, y, xref: "x", yref: "y", text, showarrow: false, xanchor, yshift, xshift: xanchor === "right" ? -12 : xanchor === "left" ? 12 : 0, font: { size: 12, color } };
  }

  // ---- pointer: a drag along an axis sets the bounds of its objective, a click opens the nearest line ----

  listen() {
    let start = null;
    const place = (event) => {
      const bounds = this.canvas.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch" || !this.shown) return;
      start = place(event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const [from, to] = [start, place(event)];
      start = null;
      if (!from) return;
      if (Math.abs(to[1] - from[1]) > DRAG_PX) this.brush(from, to);
      else this.pick(to);
    });
  }

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

  pick([px, py]) {
    let [best, least] = [-1, 8];
    for (const row of this.shown) {
      const points = this.points(row);
      for (let k = 0; k + 1 < points.length; k += 1) {
        const [[ax, ay], [bx, by]] = [points[k], points[k + 1]];
        if (px < ax || px > bx) continue;
        const distance = Math.abs(ay + ((by - ay) * (px - ax)) / (bx - ax) - py);
        if (distance < least) [best, least] = [row, distance];
      }
    }
    if (best >= 0) this.store.set({ pick: this.store.lineups.id[best] });
  }
}
