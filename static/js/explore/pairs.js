// Pairwise scatter: one large panel, the other pairs of objectives small beside it. Ringed in one, ringed in all.
import { plotly } from "../charts/plotly.js";
import { tokens } from "../charts/theme.js";
import { NARROWEST, Panel } from "./panel.js";
import { findOptional, make } from "../elements.js";
import { icon } from "./dom.js";
import { FOUND } from "./lineups.js";
/** @import { Ends } from "../charts/format.js" */
/** @import { Hover } from "./panel.js" */
/** @import { Store } from "./store.js" */

/** The objectives of a panel. @typedef {[x: number, y: number]} Pair */

const NEAT = 2; // decimals more than an objective shows, when a dragged box becomes a filter

export class Pairs {
  /** @param {Store} store @param {HTMLElement} element @param {Hover} hover */
  constructor(store, element, hover) {
    this.store = store;
    this.element = element;
    this.hover = hover;
    this.theme = tokens();
    /** @type {Panel[]} */
    this.panels = [];
    /** The drawing of the axes that is under way. @type {Promise<void> | null} */
    this.drawn = null;
    this.size = { width: 0, height: 0 };
    this.due = 0;
    this.axes = make("div", { class: "panel-axes" });
    store.on("filter data colour fit view", () => this.draw());
    store.on("pick rows", () => this.select());
    store.on("main", () => this.build());
    store.on("line", () => this.moveLines());
    this.build();
    new ResizeObserver(() => this.resized()).observe(element);
  }

  /** [large, ...small] pairs of objective numbers, x first.
   * @returns {Pair[]} */
  pairs() {
    const { lineups, state, strength, lined } = this.store;
    const count = lineups.objectives.length;
    if (count < 2) return [[FOUND, 0]];
    /** @type {Pair[]} */
    const all = [];
    for (let a = 0; a < count; a += 1) for (let b = a + 1; b < count; b += 1) all.push(this.turned(a, b));
    /** @type {Pair} */
    const usual = state.main ?? [strength >= 0 && strength !== lined ? strength : (lined + 1) % count, lined];
    const rest = all.filter(([x, y]) => Math.min(x, y) !== Math.min(...usual) || Math.max(x, y) !== Math.max(...usual));
    return [usual, ...rest];
  }

  /** What the line is drawn on stands upright, then what says how strong.
   * @param {number} a @param {number} b @returns {Pair} */
  turned(a, b) {
    const weight = (/** @type {number} */ j) => (j === this.store.lined ? 2 : j === this.store.strength ? 1 : 0);
    return weight(a) > weight(b) ? [b, a] : [a, b];
  }

  build() {
    const focused = this.element.contains(document.activeElement);
    const pairs = this.pairs();
    const brush = (/** @type {[number, Ends][]} */ bounds) => this.brush(bounds);
    this.panels = pairs.map((pair, i) => {
      const enlarge = i ? this.enlarger(pair) : null;
      return new Panel(this.store, pair, !i, { hover: this.hover, brush, enlarge });
    });
    const small = make("div", { class: "panels-small" }, ...this.panels.slice(1).map((panel) => panel.element));
    this.element.replaceChildren(this.axes, this.panels[0].element, ...(this.panels.length > 1 ? [small] : []));
    this.element.dataset.panels = String(this.panels.length);
    if (focused) findOptional(this.element, ".panel-enlarge")?.focus();
    this.draw(true);
  }

  /** @param {Pair} pair */
  enlarger(pair) {
    const [x, y] = pair.map((j) => this.store.lineups.objectives[j]);
    const label = `Show ${y.title} against ${x.title} large`;
    const button = make("button", { type: "button", class: "btn btn-icon panel-enlarge", "aria-label": label, title: label }, icon("zoom-in", 16));
    button.addEventListener("click", () => this.store.set({ main: pair }));
    return button;
  }

  draw(restyle = false) {
    if (this.element.hidden || this.element.clientWidth < NARROWEST) return;
    this.size = { width: this.element.clientWidth, height: this.element.clientHeight };
    const moved = this.panels.map((panel) => panel.draw(this.theme)).some(Boolean);
    if (moved || restyle) this.drawn = this.plot();
  }

  /** The marks follow a line that moves at once; its words and the tint, which Plotly draws, once in a frame. */
  moveLines() {
    cancelAnimationFrame(this.due);
    this.due = requestAnimationFrame(() => {
      this.draw(true);
      for (const panel of this.panels) if (panel.last) panel.label(panel.last);
    });
  }

  select() {
    if (!this.element.hidden) for (const panel of this.panels) panel.select(this.theme);
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width !== this.size.width || height !== this.size.height) this.draw();
  }

  retheme() {
    this.theme = tokens();
    this.draw(true);
  }

  /** The axes of all panels, as one figure. */
  async plot() {
    const { theme, size } = this;
    const parts = this.panels.map((panel, i) => panel.axes(theme, i + 1, size));
    const id = (/** @type {number} */ i) => (i ? String(i + 1) : "");
    /** @type {Plotly.Layout} */
    const layout = {
      ...size, margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, dragmode: false, hovermode: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.ink },
      ...Object.fromEntries(parts.flatMap(({ x, y }, i) => [[`xaxis${id(i)}`, x], [`yaxis${id(i)}`, y]])),
      shapes: parts.flatMap(({ shapes }) => shapes),
      annotations: parts.flatMap(({ annotations }) => annotations),
    };
    const traces = parts.map((_, i) => ({ type: "scatter", mode: "markers", x: [null], y: [null], xaxis: `x${id(i)}`, yaxis: `y${id(i)}` }));
    const Plotly = await plotly();
    await Plotly.react(this.axes, traces, layout, { staticPlot: true, displayModeBar: false });
  }

  /** Resolves when axes and marks are on the page. */
  async painted() {
    await this.drawn;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }

  /** A dragged box fills the number boxes of its two objectives.
   * @param {[number, Ends][]} bounds */
  brush(bounds) {
    const [min, max] = [{ ...this.store.state.min }, { ...this.store.state.max }];
    for (const [j, [low, high]] of bounds) {
      if (j === FOUND) continue;
      const { name, digits } = this.store.lineups.objectives[j];
      min[name] = Number(low.toFixed(digits + NEAT - 1));
      max[name] = Number(high.toFixed(digits + NEAT - 1));
    }
    this.store.set({ min, max });
  }
}
