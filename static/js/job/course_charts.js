// The charts of how a search went. Plotly draws; colours are the tokens.
import { axisTitle, decimals, titleLines } from "../charts/format.js";
import { axisOf, CONFIG, extent, layoutOf, lineOf, padded, reference, valueText, wholeAxisOf } from "./parts.js";
import { plotly } from "../charts/plotly.js";
import { faded } from "../charts/theme.js";

/** @import { Theme } from "../charts/theme.js" */
/** @import { Axis, Label, Layout, Measure } from "./parts.js" */

/** A number of each round, null where it is not known. @typedef {(number | null)[]} Numbers */
/** @typedef {{ tick: number[], best: Numbers, median: Numbers, low: Numbers, high: Numbers }} Bests */
/** The volume of the edge, and what share of each round's lineups held a piece.
 * @typedef {{ tick: number[], volume: Numbers, pieces: { name: string, share: Numbers }[] }} Held */
/** An axis of a map with the edges of its cells. @typedef {Label & Measure & { edges: number[] }} CellAxis */
/** A map's filled cells, as columns: place on the first axis, on the second, quality, lineup. `hidden`: the map has a third axis.
 * @typedef {{ axes: CellAxis[], cells: number[][], quality: Label & Measure, bins: number, hidden: boolean }} Grid */
/** Which member stood at a step, and whom it copied there (-1: nobody). @typedef {{ member: number[], step: number[], copied: number[] }} Lineage */
/** A layout whose axes are there. @typedef {Layout & { xaxis: Plotly.Axis, yaxis: Plotly.Axis }} Axes */

const SYMBOLS = ["circle", "square", "triangle-up", "cross", "hexagon", "triangle-down", "hourglass", "star"];
const ROUND = { title: "Round", unit: "", toward: "later", direction: "max" };
/** @param {string} title @param {string} [toward] */
const plain = (title, toward = "") => ({ title, unit: "", toward, direction: "max" });
/** @param {number[]} x @param {Numbers} low @param {Numbers} high @param {string} color @returns {Plotly.Trace} */
const band = (x, low, high, color) => ({ x: [...x, ...x.slice().reverse()], y: [...high, ...low.slice().reverse()], fill: "toself", fillcolor: color, line: { width: 0 }, mode: "lines", hoverinfo: "skip" });

const [NARROW, LINE_PX] = [560, 16];
/** @param {HTMLElement} element @param {Theme} theme @param {Label} xAxis @param {Label} yAxis @returns {Axes} */
function layoutFor(element, theme, xAxis, yAxis) {
  const narrow = element.clientWidth < NARROW;
  const margin = { l: narrow ? 48 : 58, r: 12, t: 8, b: 46 };
  // The upright title takes as many lines as the chart is too low for.
  const lines = titleLines(axisTitle(yAxis), element.clientHeight - margin.t - margin.b);
  const layout = layoutOf(theme, { ...margin, l: margin.l + (lines.length - 1) * LINE_PX });
  const upright = axisOf(yAxis, theme, true);
  return { ...layout, xaxis: axisOf(xAxis, theme, narrow), yaxis: { ...upright, title: { ...upright.title, text: lines.join("<br>") } } };
}

/** A layout over these rounds.
 * @param {HTMLElement} element
 * @param {Theme} theme
 * @param {number[]} ticks
 * @param {Label} yAxis
 * @param {Label} [xAxis] */
function overRounds(element, theme, ticks, yAxis, xAxis = ROUND) {
  const layout = layoutFor(element, theme, xAxis, yAxis);
  layout.xaxis = wholeAxisOf(xAxis, theme, element.clientWidth < NARROW, ticks);
  return layout;
}

/** @param {HTMLElement} element @param {Plotly.Trace[]} traces @param {Plotly.Layout} layout */
async function put(element, traces, layout) {
  const Plotly = await plotly();
  await Plotly.react(element, traces, layout, CONFIG);
}

/** @param {Numbers} values @param {Measure} y */
const words = (values, y) => values.map((v) => (v === null ? "not known" : valueText(y, v)));
/** @param {Bests} c @param {Measure} y */
const bestRange = (c, y) => padded(extent([...c.best, ...c.low, ...c.high, y.line]));

/** @param {Bests} c @param {Measure & { typical?: string }} y @param {Theme} theme @returns {Plotly.Trace[]} */
function bestTraces(c, y, theme) {
  const mode = c.tick.length > 1 ? "lines" : "markers";
  return [
    band(c.tick, c.low, c.high, faded(theme["context-mark"], 0.28)),
    { x: c.tick, y: c.median, mode, marker: { color: theme["context-mark"], size: 6 }, line: { color: theme["context-mark"], width: 1.6, dash: "dot" }, text: words(c.median, y), hovertemplate: `Round %{x}: ${y.typical ?? "median lineup"} %{text}<extra></extra>` },
    { x: c.tick, y: c.best, mode, marker: { color: theme.accent, size: 7 }, line: { color: theme.accent, width: 2.2 }, text: words(c.best, y), hovertemplate: "Round %{x}: best %{text}<extra></extra>" },
  ];
}

/** Best of the edge; the middle half and the middle of the round's lineups.
 * @param {HTMLElement} element @param {Bests} c @param {Axis} y @param {Theme} theme */
export async function drawBest(element, c, y, theme) {
  const layout = overRounds(element, theme, c.tick, y);
  layout.yaxis.range = bestRange(c, y);
  if (y.line !== null) reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: `The line: ${lineOf(y)}` });
  await put(element, bestTraces(c, y, theme), layout);
}

const [PANEL, BETWEEN, AROUND] = [150, 34, 72];
/** Pixels that panels take which stand above each other.
 * @param {number} panels */
export const heightOf = (panels) => panels * PANEL + (panels - 1) * BETWEEN + AROUND;

/** The same of several measures [{c, y}] over the same rounds, a panel each, with its title on top.
 * @param {HTMLElement} element
 * @param {{ c: Bests, y: Label & Measure & { typical?: string } }[]} panels
 * @param {Theme} theme */
export async function drawBests(element, panels, theme) {
  const layout = overRounds(element, theme, panels[0].c.tick, plain(""));
  const room = heightOf(panels.length) - AROUND;
  layout.margin.t = AROUND - layout.margin.b;
  layout.xaxis.anchor = `y${panels.length}`;
  const traces = panels.flatMap(({ c, y }, i) => {
    const top = 1 - (i * (PANEL + BETWEEN)) / room;
    const domain = [Math.max(0, top - PANEL / room), top];
    layout[`yaxis${i ? i + 1 : ""}`] = { ...axisOf(plain(""), theme, true), domain, range: bestRange(c, y), nticks: 6 };
    layout.annotations.push({ text: axisTitle(y), showarrow: false, xref: "paper", yref: "paper", x: 0, y: top, xanchor: "left", yanchor: "bottom", font: { size: 12, color: theme.ink } });
    return bestTraces(c, y, theme).map((trace) => ({ ...trace, yaxis: `y${i ? i + 1 : ""}` }));
  });
  await put(element, traces, layout);
}

/** The hypervolume, round by round.
 * @param {HTMLElement} element @param {Pick<Held, "tick" | "volume">} c @param {Theme} theme */
export async function drawVolume(element, c, theme) {
  const layout = overRounds(element, theme, c.tick, plain("Volume", "beats more"));
  layout.yaxis.rangemode = "tozero";
  await put(element, [{ x: c.tick, y: c.volume, mode: c.tick.length > 1 ? "lines" : "markers", line: { color: theme.accent, width: 2.2 }, hovertemplate: "Round %{x}: %{y:.3f}<extra></extra>" }], layout);
}

/** Shares of lineups that hold the pieces held most lately, each line with its own shape now and then.
 * @param {HTMLElement} element @param {Held} c @param {Theme} theme */
export async function drawPieces(element, c, theme) {
  const layout = overRounds(element, theme, c.tick, { ...plain("Lineups that hold it"), unit: "%" });
  layout.yaxis.rangemode = "tozero";
  const few = Math.max(1, Math.ceil(c.tick.length / 8));
  const traces = c.pieces.map((piece, i) => ({
    x: c.tick,
    y: piece.share.map((v) => (v === null ? null : 100 * v)),
    mode: "lines+markers",
    line: { color: theme.family[i], width: 1.8 },
    marker: { symbol: SYMBOLS[i], color: theme.family[i], size: c.tick.map((_, k) => (k % few === few - 1 || k === c.tick.length - 1 ? 8 : 0)), line: { width: 1, color: theme.surface } },
    name: piece.name,
    hovertemplate: `${piece.name}, round %{x}: %{y:.0f} %<extra></extra>`,
  }));
  await put(element, traces, layout);
}

/** What a cell of a map holds along one of its axes: the cells at the ends are open, they also take what lies beyond.
 * @param {CellAxis} axis @param {number} i */
export function cellText(axis, i) {
  const last = axis.edges.length - 2;
  if (!last) return "any";
  const [low, high] = [axis.edges[i], axis.edges[i + 1]].map((edge) => valueText(axis, edge));
  if (i === 0) return `up to ${high}`;
  return i === last ? `${low} and more` : `${low} to ${high}`;
}

/** An axis of a map: the open cells at its ends are marked in words in their middles, others at their edges.
 * @param {CellAxis} axis @param {Theme} theme @param {boolean} narrow @returns {Plotly.Axis} */
function cellAxis(axis, theme, narrow) {
  const { edges } = axis;
  const last = edges.length - 2;
  const step = Math.ceil((last + 1) / (narrow ? 4 : 8));
  const inner = edges.map((_, i) => i).filter((i) => i % step === 0 && i > step && i <= last - step);
  const ends = [...new Set([0, last])];
  return {
    ...axisOf(axis, theme, narrow),
    tickvals: [...ends.map((i) => (edges[i] + edges[i + 1]) / 2), ...inner.map((i) => edges[i])],
    ticktext: [...ends.map((i) => cellText(axis, i)), ...inner.map((i) => valueText(axis, edges[i]))],
    tickangle: 0,
    automargin: true,
    showgrid: false,
  };
}

/** The filled cells of a map; empty ones stay the colour of the ground.
 * @param {HTMLElement} element @param {Grid} g @param {Theme} theme */
export async function drawGrid(element, g, theme) {
  const [across, up] = [g.axes[0], g.axes[1] ?? { ...plain(""), line: null, edges: [0, 1] }];
  const layout = layoutFor(element, theme, across, up);
  layout.xaxis = cellAxis(across, theme, element.clientWidth < NARROW);
  layout.yaxis = { ...cellAxis(up, theme, true), title: layout.yaxis.title, ...(g.axes.length < 2 ? { showticklabels: false, ticks: "" } : {}) };
  /** @type {(number | null)[][]} */
  const z = up.edges.slice(1).map(() => across.edges.slice(1).map(() => null));
  g.cells[0].forEach((a, i) => (z[g.cells[1][i]][a] = g.cells[2][i]));
  layout.plot_bgcolor = theme.sunken;
  layout.margin.r = 84;
  /** @param {number} v @param {number[]} cell */
  const cellWords = (v, cell) => [...g.axes.map((axis, k) => `${axis.title}: ${cellText(axis, cell[k])}`), `${g.quality.title}: <b>${valueText(g.quality, v)}</b>`].join("<br>");
  /** @type {Plotly.Trace} */
  const heat = {
    type: "heatmap",
    x: across.edges,
    y: up.edges,
    z,
    text: z.map((row, b) => row.map((v, a) => (v === null ? "" : cellWords(v, [a, b])))),
    hovertemplate: "%{text}<extra></extra>",
    hoverongaps: false,
    xgap: 1,
    ygap: 1,
    colorscale: [[0, faded(theme.accent, 0.18)], [1, theme.accent]],
    reversescale: g.quality.direction === "min",
    colorbar: { thickness: 12, outlinewidth: 0, tickfont: { size: 12, color: theme.muted }, title: { text: g.quality.unit, font: { size: 12, color: theme.ink } } },
  };
  await put(element, [heat], layout);
}

/** Members as lines over their steps; a copy is a slanted line from the member that was copied.
 * @param {HTMLElement} element
 * @param {Lineage} l
 * @param {Theme} theme
 * @param {{ step?: string, member?: string }} [words] */
export async function drawLineage(element, l, theme, { step: one = "Step", member = "Member" } = {}) {
  const layout = overRounds(element, theme, l.step.map((step) => step + 1), plain(member), plain(one, "later"));
  layout.yaxis.dtick = Math.max(1, Math.ceil((Math.max(...l.member) + 1) / 12));
  /** @type {Record<"x" | "y", (number | null)[]>} */
  const own = { x: [], y: [] };
  /** @type {Record<"x" | "y", (number | null)[]>} */
  const copies = { x: [], y: [] };
  l.member.forEach((m, i) => {
    const [step, from] = [l.step[i] + 1, l.copied[i]];
    if (step > 1) {
      own.x.push(step - 1, step, null);
      own.y.push((from >= 0 ? null : m + 1), m + 1, null);
    }
    if (from >= 0) {
      copies.x.push(step - 1, step, null);
      copies.y.push(from + 1, m + 1, null);
    }
  });
  const traces = [
    { ...own, mode: "lines", line: { color: theme["control-edge"], width: 1.6 }, hoverinfo: "skip" },
    { ...copies, mode: "lines", line: { color: theme.accent, width: 2.4 }, hoverinfo: "skip" },
    {
      x: l.step.map((s) => s + 1),
      y: l.member.map((m) => m + 1),
      mode: "markers",
      marker: { opacity: 1, size: l.copied.map((c) => (c >= 0 ? 11 : 7)), symbol: l.copied.map((c) => (c >= 0 ? "triangle-up" : "circle")), color: l.copied.map((c) => (c >= 0 ? theme.accent : theme.muted)) },
      text: l.copied.map((c) => (c >= 0 ? `copied ${member.toLowerCase()} ${decimals(c + 1, 0)}` : "went on by itself")),
      hovertemplate: `${member} %{y}, ${one.toLowerCase()} %{x}: %{text}<extra></extra>`,
    },
  ];
  await put(element, traces, layout);
}
