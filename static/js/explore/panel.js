// One scatter of two objectives: its marks on two canvases, its words on top. The axes of all panels are one Plotly
// figure, which lies below (pairs.js).
import { make } from "../elements.js";
import { axisTitle, lineText, titleLines, withUnit } from "../charts/format.js";
import { faded } from "../charts/theme.js";
import { PAD, paint, Scale, select } from "./cloud.js";
import { Nearest } from "./nearest.js";
import { freest, spots } from "./notes.js";
/** @import { Ends } from "../charts/format.js" */
/** @import { Theme } from "../charts/theme.js" */
/** @import { Frame, Line } from "./cloud.js" */
/** @import { Chart } from "./hover.js" */
/** @import { Box } from "./notes.js" */
/** @import { Pair } from "./pairs.js" */
/** @import { Store } from "./store.js" */

/** Shows the card of a row, or hides it: -1. @typedef {(row: number, chart: Chart | null, pointer?: string) => void} Hover */
/** A place in px. @typedef {[x: number, y: number]} Point */

// Room for ticks and one line of a title; a small panel has the upright axis's title above it, where it can be read.
const MARGINS = {
  large: { l: 56, r: 16, t: 16, b: 48 },
  small: { l: 34, r: 10, t: 8, b: 42 },
};
const LINE_PX = 15;
const LEAST = 40; // px of a plot, either way
/** px: in less than this there is no room for an axis with its words, and Plotly places titles at infinity. */
export const NARROWEST = MARGINS.large.l + MARGINS.large.r + LEAST;
const ROOM = 0.04; // share of the range left free at both ends
const DRAG_PX = 5;

export class Panel {
  /** @param {Store} store @param {Pair} pair @param {boolean} large
   * @param {{ hover: Hover, brush: (bounds: [number, Ends][]) => void, enlarge: HTMLElement | null }} parts */
  constructor(store, [xj, yj], large, { hover, brush, enlarge }) {
    this.store = store;
    this.xj = xj;
    this.yj = yj;
    this.large = large;
    this.hover = hover;
    this.brush = brush;
    /** What was drawn last. @type {Frame | null} */
    this.last = null;
    /** @type {Nearest | null} */
    this.nearest = null;
    /** @type {Chart | null} */
    this.chart = null;
    this.dragged = false;
    this.element = make("div", { class: `panel ${large ? "panel-large" : "panel-small"}` });
    this.cloud = this.add("canvas", "panel-marks");
    this.canvas = this.add("canvas", "panel-marks");
    this.words = this.add("div", "panel-words");
    this.box = this.add("div", "panel-brush");
    this.box.hidden = true;
    if (enlarge) this.element.append(enlarge);
    this.listen();
  }

  /** @template {"canvas" | "div"} N @param {N} name @param {string} css */
  add(name, css) {
    return this.element.appendChild(make(name, { class: css, "aria-hidden": "true" }));
  }

  objectives() {
    return [this.xj, this.yj].map((j) => this.store.lineups.axis(j).objective);
  }

  /** The range an axis shows: everything, or what matches when the view is fitted; the line always included.
   * @param {number} j @returns {Ends} */
  range(j) {
    const { lineups, match, state } = this.store;
    const { objective, values, extent } = lineups.axis(j);
    let [low, high] = lineups.count ? extent : [0, 1];
    if (state.fit && this.store.order.length) {
      [low, high] = [Infinity, -Infinity];
      for (let i = 0; i < match.length; i += 1) {
        if (!match[i]) continue;
        if (values[i] < low) low = values[i];
        if (values[i] > high) high = values[i];
      }
    } else {
      const { threshold } = objective;
      if (threshold !== null) [low, high] = [Math.min(low, threshold), Math.max(high, threshold)];
    }
    const room = (high - low || Math.abs(high) || 1) * ROOM;
    return [low - room, high + room];
  }

  /** @returns {Frame} */
  frame() {
    const { clientWidth, clientHeight } = this.element;
    const { margin: m, titles } = this.margin(clientWidth, clientHeight);
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(LEAST, clientWidth - m.l - m.r), Math.max(LEAST, clientHeight - m.t - m.b)];
    const [xr, yr] = [this.range(this.xj), this.range(this.yj)];
    const { lineups } = this.store;
    return {
      cloud: this.cloud, marks: this.canvas, large: this.large, ratio, margin: m, titles, xr, yr, xj: this.xj, yj: this.yj,
      width: Math.round((w + 2 * PAD) * ratio), height: Math.round((h + 2 * PAD) * ratio),
      x: new Scale(xr, w, ratio, false), y: new Scale(yr, h, ratio, true),
      xs: lineups.axis(this.xj).values, ys: lineups.axis(this.yj).values, lines: this.lines(xr, yr),
    };
  }

  /** The margins, with room for titles of several lines, and these titles.
   * @param {number} width @param {number} height */
  margin(width, height) {
    const usual = this.large ? MARGINS.large : MARGINS.small;
    const [x, y] = this.objectives().map((objective) => axisTitle(objective));
    const size = this.large ? 13 : 12;
    const titles = {
      x: titleLines(x, width - usual.l - usual.r, size),
      y: titleLines(y, this.large ? height - usual.t - usual.b : width - usual.r, size),
    };
    const [more, above] = [titles.x.length - 1, titles.y.length].map((lines) => lines * LINE_PX);
    const side = this.large ? { l: usual.l + above - LINE_PX } : { t: usual.t + above };
    return { margin: { ...usual, ...side, b: usual.b + more }, titles };
  }

  /** @param {Ends} xr @param {Ends} yr */
  lines(xr, yr) {
    const { lineups, strength } = this.store;
    const median = lineups.meta.median?.value ?? null;
    /** @type {Line[]} */
    const found = [];
    for (const [along, j] of /** @type {const} */ ([["x", this.xj], ["y", this.yj]])) {
      const { threshold } = lineups.axis(j).objective;
      if (threshold !== null) found.push({ along, j, at: threshold, dotted: false });
      if (j === strength && median !== null) found.push({ along, j, at: median, dotted: true });
    }
    return found.filter(({ along, at }) => {
      const [low, high] = along === "x" ? xr : yr;
      return at > low && at < high;
    });
  }

  /** Draw everything again; tells whether the axes have to follow.
   * @param {Theme} theme */
  draw(theme) {
    if (!this.element.clientWidth) return false;
    const frame = this.frame();
    const { last } = this;
    const same = last !== null && last.width === frame.width && last.height === frame.height &&
      /** @type {const} */ (["x", "y"]).every((k) => last[k].from === frame[k].from && last[k].to === frame[k].to);
    this.last = frame;
    this.nearest = null;
    this.chart = this.chartOf(frame);
    for (const { style } of [this.cloud, this.canvas]) {
      style.left = `${frame.margin.l - PAD}px`;
      style.top = `${frame.margin.t - PAD}px`;
      style.width = `${frame.width / frame.ratio}px`;
      style.height = `${frame.height / frame.ratio}px`;
    }
    paint(frame, this.store, theme);
    if (!same) this.label(frame);
    return !same;
  }

  /** What the hover card needs to know: where each lineup's mark stands, in px of the canvas.
   * @param {Frame} frame @returns {Chart} */
  chartOf({ x, y, xs, ys, ratio }) {
    return { element: this.canvas, at: (row) => [x.place(xs[row]) / ratio, y.place(ys[row]) / ratio], rows: this.store.every };
  }

  /** Only what is selected has changed.
   * @param {Theme} theme */
  select(theme) {
    if (this.last?.stamped) select(this.last, this.store, theme);
  }

  /** @param {Frame} frame */
  label(frame) {
    this.words.replaceChildren();
    if (!this.large) return;
    /** @type {[note: HTMLElement, along: string, at: number][]} */
    const notes = [];
    for (const { along, j, at, dotted } of frame.lines) {
      const note = make("span");
      const objective = this.store.lineups.objectives[j];
      note.textContent = dotted ? `Median baseline team, ${withUnit(at, { ...objective, ...this.store.lineups.level(j) })}` : `The line${objective.threshold === this.store.lineups.ownLines[j] ? "" : ", moved"}: ${lineText(at, objective)}`;
      note.className = along === "x" ? "note-x" : "note-y";
      if (along === "x") {
        notes.push([note, "x", frame.margin.l - PAD + frame.x.place(at) / frame.ratio]);
      } else {
        notes.push([note, "y", frame.margin.t - PAD + frame.y.place(at) / frame.ratio]);
      }
      this.words.append(note);
    }
    /** @type {Box[]} */
    const taken = [];
    for (const [note, along, at] of notes) {
      const box = freest(frame, this.store, spots(frame, note, along, at), taken);
      Object.assign(note.style, { left: `${box.left}px`, top: `${box.top}px` });
      taken.push(box);
    }
  }

  /** The panel's two axes and its tint for Plotly: {x, y, shapes, annotations}; `number` 2 means the axes x2 and y2.
   * @param {Theme} theme @param {number} number @param {{ width: number, height: number }} size */
  axes(theme, number, { width, height }) {
    const frame = this.last ?? this.frame();
    const { offsetLeft: left, offsetTop: top } = this.element;
    const id = number > 1 ? String(number) : "";
    const font = { size: this.large ? 13 : 12, color: theme.ink };
    /** @param {string[]} title @param {Ends} range @param {number} pixels @returns {Plotly.Axis} */
    const axis = (title, range, pixels) => ({
      range, title: { text: title.join("<br>"), standoff: 8, font },
      tickfont: { size: 12, color: theme.muted }, nticks: Math.max(3, Math.round(pixels / (this.large ? 75 : 55))),
      gridcolor: theme.grid, gridwidth: 1, zeroline: false, showline: true, linecolor: theme["control-edge"], linewidth: 1,
      ticks: "outside", ticklen: 4, tickcolor: theme["control-edge"], fixedrange: true, automargin: false,
    });
    const from = left + frame.margin.l;
    const under = height - top - frame.margin.t;
    return {
      x: { ...axis(frame.titles.x, frame.xr, frame.x.pixels), anchor: `y${id}`, domain: [from / width, (from + frame.x.pixels) / width] },
      y: { ...axis(this.large ? frame.titles.y : [""], frame.yr, frame.y.pixels), anchor: `x${id}`, domain: [(under - frame.y.pixels) / height, under / height] },
      annotations: this.large ? [] : [{
        text: frame.titles.y.join("<br>"), font, showarrow: false, align: "left", xref: "paper", yref: "paper",
        x: (left + 4) / width, y: (height - top - 2) / height, xanchor: "left", yanchor: "top",
      }],
      shapes: this.tint(frame, theme).map((shape) => ({ ...shape, xref: `x${id}`, yref: `y${id}` })),
    };
  }

  /** The corner where the problem is: over the line, and stronger than the median baseline team. Where strength counts
   * and is not drawn, over the line is not the problem yet, and nothing is tinted.
   * @param {Frame} frame @param {Theme} theme @returns {Plotly.Shape[]} */
  tint(frame, theme) {
    const corner = { x: [...frame.xr], y: [...frame.yr] };
    const { strength, lineups } = this.store;
    const weighs = strength >= 0 && lineups.meta.median && lineups.objectives[strength].threshold === null;
    if (!frame.lines.some((line) => !line.dotted) || (weighs && ![frame.xj, frame.yj].includes(strength))) return [];
    for (const { along, j, at } of frame.lines) {
      const end = this.store.lineups.objectives[j].direction === "max" ? 0 : 1;
      corner[along][end] = at;
    }
    const [x0, x1] = corner.x;
    const [y0, y1] = corner.y;
    return [{ type: "rect", layer: "below", x0, x1, y0, y1, line: { width: 0 }, fillcolor: faded(theme.over, theme.tint) }];
  }

  // ---- pointer ----

  /** @param {MouseEvent} event @returns {Point} */
  place(event) {
    const bounds = this.canvas.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  }

  /** @param {MouseEvent} event */
  at(event) {
    if (!this.last || !this.store.lineups.count) return -1;
    this.nearest ??= new Nearest(this.last, this.store);
    const [x, y] = this.place(event);
    return this.nearest.at(x * this.last.ratio, y * this.last.ratio);
  }

  listen() {
    const { canvas } = this;
    /** @type {Point | null} */
    let start = null;
    let dragging = false;
    canvas.addEventListener("pointermove", (event) => {
      if (!start) return this.hover(this.at(event), this.chart, event.pointerType);
      const [x, y] = this.place(event);
      dragging ||= Math.hypot(x - start[0], y - start[1]) > DRAG_PX;
      if (dragging) this.showBox(start, [x, y]);
      return undefined;
    });
    canvas.addEventListener("pointerleave", () => start || this.hover(-1, this.chart));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch" || !this.store.lineups.count) return;
      start = this.place(event);
      canvas.setPointerCapture(event.pointerId);
    });
    /** @param {PointerEvent} event @param {boolean} keep */
    const end = (event, keep) => {
      if (start && dragging && keep) this.brushed(start, this.place(event));
      this.box.hidden = true;
      [start, dragging] = [null, false];
    };
    canvas.addEventListener("pointerup", (event) => {
      this.dragged = dragging;
      end(event, true);
    });
    canvas.addEventListener("pointercancel", (event) => end(event, false));
    canvas.addEventListener("click", (event) => {
      const row = this.dragged ? -1 : this.at(event);
      this.dragged = false;
      if (row >= 0) this.store.set({ pick: this.store.lineups.id[row] }, { leave: matchMedia("(max-width: 991px)").matches });
    });
  }

  /** @param {Point} from @param {Point} to */
  showBox([ax, ay], [bx, by]) {
    this.hover(-1, this.chart);
    if (!this.last) return;
    const { margin } = this.last;
    Object.assign(this.box.style, {
      left: `${Math.min(ax, bx) + margin.l - PAD}px`, top: `${Math.min(ay, by) + margin.t - PAD}px`,
      width: `${Math.abs(ax - bx)}px`, height: `${Math.abs(ay - by)}px`,
    });
    this.box.hidden = false;
  }

  /** @param {Point} from @param {Point} to */
  brushed([ax, ay], [bx, by]) {
    if (!this.last) return;
    const { x, y } = this.last;
    /** @param {number} a @param {number} b @returns {Ends} */
    const sorted = (a, b) => [Math.min(a, b), Math.max(a, b)];
    this.brush([[this.xj, sorted(x.value(ax), x.value(bx))], [this.yj, sorted(y.value(ay), y.value(by))]]);
  }
}
