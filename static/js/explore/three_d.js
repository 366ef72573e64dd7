// Three objectives as a cloud that turns. Made when it is first asked for; draws what is over the line and a sample.
// What is over the line and strong lies on top, whatever stands before it. Drag, buttons or arrow keys turn it; up and
// down walk through the matching lineups, Enter opens one.
import { axisTitle, decimals, plural, titleLines, whole } from "../charts/format.js";
import { tokens } from "../charts/theme.js";
import { split } from "./cloud.js";
import { make } from "./dom.js";
import { UNDER } from "./lineups.js";
import { Projection, ticks } from "./projection.js";
import { sprites } from "./sprites.js";

const MOST_MARKS = 6000;
const MOST_DOTS = 3000;
const TURN = Math.PI / 12;
const TILT = { usual: 0.38, least: 0.1, most: 1.3 };
const ROOM = 0.06; // share of the range left free at both ends
const DRAG_PX = 5;
const REACH = 12; // px around the pointer
const DOT_REACH = 5;
const NARROW = 480;

/** At most `most` of `rows`, evenly spread. */
export function spread(rows, most) {
  if (rows.length <= most) return rows;
  const step = rows.length / most;
  return Uint32Array.from({ length: most }, (_, i) => rows[Math.floor(i * step)]);
}

export class ThreeD {
  constructor(store, element, note, { hover, open, say }) {
    Object.assign(this, { store, element, note, hover, open, say, angle: -0.7, tilt: TILT.usual, active: -1 });
    this.plot = element.querySelector("[data-plot]");
    for (const button of element.querySelectorAll("[data-turn]")) {
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
    return [strength >= 0 && strength !== lined ? strength : rest.pop(), rest[0] ?? 0, lined];
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
    this.shown = { marks: spread(marks, MOST_MARKS), dots: spread(rest, MOST_DOTS), all: marks.length, others: rest.length };
    this.rows = Uint32Array.from([...this.shown.dots, ...this.shown.marks]);
    const what = lineups.hasLine ? `${plural(this.shown.all, "matching lineup")} that ${this.store.claim(this.shown.all)}` : `${plural(this.shown.all, "matching lineup")} at the edge`;
    this.note.textContent = `Drawn: ${whole(this.shown.marks.length)} of ${what}, and a sample of ${whole(this.shown.dots.length)} of the ${whole(rest.length)} others.`;
  }

  draw() {
    if (!this.wanted || !this.plot.clientWidth) return;
    this.canvas ??= this.plot.appendChild(make("canvas", { "aria-hidden": "true" }));
    if (!this.shown) this.choose();
    const { clientWidth: width, clientHeight: height } = this.plot;
    const ratio = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const margin = width < NARROW ? { x: 34, y: 58, down: -20 } : { x: 90, y: 44, down: -6 };
    const view = new Projection(this.axes.map((j) => this.room(j)), { angle: this.angle, tilt: this.tilt, width, height, margin });
    Object.assign(this, { view, theme: tokens() });
    const c = this.canvas.getContext("2d");
    c.scale(ratio, ratio);
    this.box(c);
    this.marks(c, ratio);
    const { element } = this;
    element.dataset.drawn = String(this.rows.length); // tests wait for it
    this.chart = { element: this.canvas, at: (row) => this.at(row), rows: this.rows };
  }

  /** A little more than the values take; the line always included. */
  room(j) {
    const { lineups } = this.store;
    const line = lineups.objectives[j].threshold;
    let [low, high] = lineups.extent[j];
    if (line !== null) [low, high] = [Math.min(low, line), Math.max(high, line)];
    const more = ROOM * (high - low || Math.abs(high) || 1);
    return [low - more, high + more];
  }

  at(row) {
    return this.view.place(this.axes.map((j) => this.store.lineups.value[j][row]));
  }

  // ---- the box: three faces behind the cloud, their grid, ticks and titles ----

  box(c) {
    const { view, theme } = this;
    const [u, v] = view.behind();
    c.lineWidth = 1;
    c.font = `12px ${theme.font}`;
    this.axes.forEach((j, k) => {
      const { values, digits } = ticks(view.ranges[k], 5);
      for (const value of values) {
        const share = view.share(k, value);
        const faces = [[[share, v, 0], [share, v, 1], [share, 1 - v, 0]], [[u, share, 0], [u, share, 1], [1 - u, share, 0]], [[u, v, share], [1 - u, v, share], [u, 1 - v, share]]][k];
        this.line(c, theme.grid, faces[0], faces[1]);
        this.line(c, theme.grid, faces[0], faces[2]);
        this.tick(c, k, share, decimals(value, digits));
      }
      this.line(c, theme["control-edge"], this.edge(k, 0), this.edge(k, 1));
      this.title(c, k, axisTitle(this.store.lineups.objectives[j]));
    });
    this.level(c, u, v);
  }

  /** A place on the edge of the box along which axis `k` has its ticks: the floor's near edges, and the upright on the left. */
  edge(k, share) {
    const { view } = this;
    const [u, v] = view.behind();
    if (k === 0) return [share, 1 - v, 0];
    if (k === 1) return [1 - u, share, 0];
    const [one, other] = [[u, 1 - v], [1 - u, v]];
    return view.at(...one, 0)[0] < view.at(...other, 0)[0] ? [...one, share] : [...other, share];
  }

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

  /** The line of the objective that stands upright, around the faces behind. */
  level(c, u, v) {
    const objective = this.store.lineups.objectives[this.axes[2]];
    if (objective.threshold === null) return;
    const share = this.view.share(2, objective.threshold);
    for (const [from, to] of [[[u, v, share], [1 - u, v, share]], [[u, v, share], [u, 1 - v, share]]]) this.line(c, this.theme.ink, from, to, [5, 4]);
  }

  tick(c, k, share, text) {
    const [x, y] = this.view.at(...this.edge(k, share));
    const [dx, dy] = this.outward(k);
    c.fillStyle = this.theme.muted;
    c.textAlign = k === 2 ? "right" : "center";
    c.textBaseline = k === 2 ? "middle" : "top";
    c.fillText(text, x + 10 * dx, y + (k === 2 ? 0 : 6 + 4 * Math.abs(dy)));
  }

  /** Which way is out of the box, at the edge of axis `k`. */
  outward(k) {
    if (k === 2) return [-1, 0];
    const [x, y] = this.view.at(...this.edge(k, 0.5));
    const [mx, my] = this.view.at(0.5, 0.5, 0);
    const length = Math.hypot(x - mx, y - my) || 1;
    return [(x - mx) / length, (y - my) / length];
  }

  /** The title in words, below the middle of its edge; the upright axis's above its end. */
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

  marks(c, ratio) {
    const { lineups, match, state } = this.store;
    const image = sprites(this.store, this.theme, { ratio, many: this.shown.marks.length });
    const put = (row) => {
      const [x, y] = this.at(row);
      const { canvas, size } = image(row);
      c.drawImage(canvas, x - size / 2, y - size / 2, size, size);
    };
    for (const row of this.shown.dots) {
      const [x, y] = this.at(row);
      c.globalAlpha = match[row] ? 0.8 : 0.35;
      c.fillStyle = match[row] ? this.theme.muted : this.theme["context-mark"];
      c.fillRect(x - 1.2, y - 1.2, 2.4, 2.4);
    }
    c.globalAlpha = 1;
    const away = new Map(Array.from(this.shown.marks, (row) => [row, this.at(row)[2]]));
    const far = (a, b) => lineups.kind[a] - lineups.kind[b] || away.get(b) - away.get(a);
    for (const row of Array.from(this.shown.marks).sort(far)) put(row); // by verdict, so that none hides a worse one
    for (const id of state.rows) if (lineups.row(id) >= 0) this.ring(c, lineups.row(id), 6, this.theme.accent);
    if (this.active >= 0) this.ring(c, this.active, 9, this.theme.accent);
    if (this.store.picked < 0) return;
    this.whiskers(c, this.store.picked);
    put(this.store.picked);
    this.ring(c, this.store.picked, 12, this.theme.ink);
  }

  ring(c, row, radius, colour) {
    const [x, y] = this.at(row);
    c.strokeStyle = colour;
    c.lineWidth = 1.8;
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.stroke();
  }

  whiskers(c, row) {
    const { lineups } = this.store;
    const values = this.axes.map((j) => lineups.value[j][row]);
    c.lineWidth = 1.8;
    this.axes.forEach((j, k) => {
      const range = lineups.range(row, j);
      if (!range) return;
      const [from, to] = range.map((end) => values.map((value, i) => this.view.share(i, i === k ? end : value)));
      this.line(c, this.theme.ink, from, to);
    });
  }

  // ---- pointer and keys ----

  /** The lineup nearest to a place, or -1; marks are easier to hit than dots, the worse ones before others. */
  nearest(px, py) {
    if (!this.view) return -1;
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

  turn(by, up = 0) {
    this.angle += by;
    this.tilt = Math.min(TILT.most, Math.max(TILT.least, this.tilt + up));
    this.hover.hide();
    this.soon();
  }

  listen() {
    let [start, last, dragging, pointed] = [null, null, false, -1];
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

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const turns = { ArrowLeft: TURN, ArrowRight: -TURN }[event.key];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (turns) this.turn(turns);
    else if (step) this.walk(step);
    else if (event.key === "Enter" && this.active >= 0) this.open(this.active, true);
    else return;
    event.preventDefault();
  }

  /** To the next or previous lineup in the order of the table. */
  walk(step) {
    const { order } = this.store;
    if (!order.length) return;
    const place = this.active < 0 ? (step > 0 ? 0 : order.length - 1) : this.store.placeOf(this.active) + step;
    this.point(order[Math.min(order.length - 1, Math.max(0, place))]);
  }

  point(row) {
    this.active = row;
    this.draw();
    this.hover.show(row, this.chart);
    if (row < 0) return;
    const { lineups, lined } = this.store;
    this.say(`${lineups.name(row)}, ${lineups.toldOf(row, lined).value}`);
  }
}
