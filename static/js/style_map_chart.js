// The chart of the style map: each agent a mark, its shape by whether it is on the edge, its colour by its score.
import { cutLines, decimals, percent, plural, titleLines, whole } from "./charts/format.js";
import { plotly } from "./charts/plotly.js";
import { faded, rgb } from "./charts/theme.js";
import { axisOf, CONFIG, extent, layoutOf, padded } from "./job/parts.js";
import { groupsOf } from "./style_map_groups.js";
/** @import { Theme } from "./charts/theme.js" */

/** A measure: what its low and high end are called; `share`: told in percent.
 * @typedef {{ name: string, title: string, low: string, high: string, share: boolean }} Along */
/** Values of all agents and the ends of their 95 % ranges, null where unknown.
 * @typedef {{ mean: number[], low: (number | null)[], high: (number | null)[] }} Column */
/** What the server tells of the agents in the table, in its order; `picked`: its place among those picked, or 0.
 * @typedef {{ agents: number[], edge: boolean[], able: boolean[], picked: number[],
 *   held: (keyof typeof HELD | null)[], values: Record<string, Column>,
 *   episodes: number, axes: Record<string, Along>, control?: Record<string, number[]> }} Drawn */

const NARROW = 560;
const [LINE_PX, TITLE_LINES] = [16, 2]; // of the title of an axis
const READ_PX = 340; // of the card that says what a mark is
const [ON_EDGE, OFF_EDGE] = [12, 7]; // sizes of marks, in pixels
const PALE = 0.2; // of the accent, in the worst score’s colour
const MANY = 60; // agents: of more, only those on the edge have their ranges drawn

/** @param {Along} axis @param {number} value */
const scaled = (axis, value) => (axis.share ? 100 * value : value);
/** @param {Along} axis @param {number} value */
const text = (axis, value) => (axis.share ? percent(value) : decimals(value, 2));

/** The whole title of an axis. @param {Along} axis */
const titleOf = (axis) => `${axis.title}:  ${axis.low} … ${axis.high}`;
/** It as the axis has room for it. @param {Along} axis @param {number} pixels */
function linesOf(axis, pixels) {
  const lines = titleLines(titleOf(axis), pixels);
  return lines.length > 1 ? [...cutLines(`${axis.title}:`, pixels, TITLE_LINES), `${axis.low} … ${axis.high}`] : lines;
}

/** Let whoever points at the title of an axis read all of it. @param {HTMLElement} chart @param {string} part @param {Along} axis */
function explain(chart, part, axis) {
  const title = /** @type {SVGTextElement | null} */ (chart.querySelector(`.${part}`));
  if (!title) return;
  title.querySelector("title")?.remove();
  const tip = document.createElementNS("http://www.w3.org/2000/svg", "title");
  tip.textContent = titleOf(axis);
  title.append(tip);
  title.style.pointerEvents = "all";
}

/** The pale and the strong end of the colours of scores. @param {Theme} theme @returns {Plotly.Scale} */
const scale = (theme) => [[0, mixed(theme.surface, theme.accent, PALE)], [1, theme.accent]];

/** A colour between two, opaque: where marks lie on one another it stays what it is.
 * @param {string} from @param {string} to @param {number} share */
function mixed(from, to, share) {
  const [a, b] = [rgb(from), rgb(to)];
  return `rgb(${a.map((value, i) => Math.round(value + share * (b[i] - value))).join(", ")})`;
}

/** The agent that was last opened by a click on the chart: a further click there goes on to the next. */
let last = -1;

/** What strangers showed of a style. */
const HELD = {
  fragile: "fragile: its style does not hold against strangers",
  holds: "its style holds against strangers",
  open: "whether its style holds against strangers cannot be told yet",
};

/** @param {Drawn} drawn @param {number} i @param {number} together how many agents are at its mark */
function words(drawn, i, together) {
  const measures = Object.values(drawn.axes).map((axis) => {
    const { mean, low, high } = drawn.values[axis.name];
    const [from, to] = [low[i], high[i]];
    const range = from === null || to === null ? "range not known" : `${text(axis, from)} to ${text(axis, to)}`;
    return `${titleLines(`${axis.title}:`, READ_PX).join("<br>")} <b>${text(axis, mean[i])}</b> (${range})`;
  });
  return [`<b>Agent ${drawn.agents[i]}</b>${drawn.picked[i] ? `, pick ${drawn.picked[i]}` : ""}`, ...measures, `measured on ${plural(drawn.episodes, "episode")}`, drawn.edge[i] ? "on the edge" : "not on the edge", ...[drawn.held[i]].flatMap((said) => (said ? [HELD[said]] : [])), ...(together > 1 ? [`${whole(together)} agents at this mark; click again for the next`] : [])].join("<br>");
}

/** Ranges along an axis as whiskers. @param {Column} column @param {Along} axis @param {number[]} rows @param {string} color @returns {Plotly.ErrorBar} */
function whiskers(column, axis, rows, color) {
  /** @param {(number | null)[]} ends @param {1 | -1} sign */
  const toward = (ends, sign) => rows.map((i) => Math.max(0, sign * (scaled(axis, ends[i] ?? column.mean[i]) - scaled(axis, column.mean[i]))));
  return { type: "data", symmetric: false, array: toward(column.high, 1), arrayminus: toward(column.low, -1), color, thickness: 1, width: 3 };
}

/** @param {HTMLElement} chart
 * @param {Drawn} drawn
 * @param {{ x: string, y: string }} along
 * @param {Set<number>} ticked
 * @param {Theme} theme
 * @param {(agent: number) => void} open
 * @returns the agents that share a mark, mark by mark */
export async function drawMap(chart, drawn, along, ticked, theme, open) {
  const Plotly = await plotly();
  const narrow = chart.clientWidth < NARROW;
  const [x, y] = [drawn.axes[along.x], drawn.axes[along.y]];
  const [xs, ys, score] = [drawn.values[along.x], drawn.values[along.y], drawn.values.score];
  const [worst, best] = extent(score.mean);
  const all = drawn.agents.map((_, i) => i);
  const [side, top] = [narrow ? 62 : 70, 14];
  const upright = linesOf(y, chart.clientHeight - top - 4 * LINE_PX);
  const left = side + (upright.length - 1) * LINE_PX;
  const across = linesOf(x, chart.clientWidth - left);
  const margin = { l: left, r: 12, t: top, b: 44 + across.length * LINE_PX };
  /** @param {Along} axis @param {Column} column */
  const rangeOf = (axis, column) => padded(extent([...column.mean, ...column.low, ...column.high, ...(drawn.control?.[axis.name] ?? [])].map((v) => (v === null ? null : scaled(axis, v)))));
  const ranges = { xaxis: rangeOf(x, xs), yaxis: rangeOf(y, ys) };
  /** @param {number} value @param {[low: number, high: number]} range @param {number} length */
  const pixel = (value, [low, high], length) => ((value - low) / (high - low)) * length;
  const [width, height] = [chart.clientWidth - margin.l - margin.r, chart.clientHeight - margin.t - margin.b];
  const groups = groupsOf(all.map((i) => ({ x: pixel(scaled(x, xs.mean[i]), ranges.xaxis, width), y: pixel(scaled(y, ys.mean[i]), ranges.yaxis, height), size: drawn.edge[i] ? ON_EDGE : OFF_EDGE })));
  /** @type {number[][]} */
  const groupAt = [];
  for (const group of groups) for (const row of group) groupAt[row] = group;
  const shared = groups.filter(({ length }) => length > 1);
  /** @param {number[]} rows */
  const at = (rows) => ({ x: rows.map((i) => scaled(x, xs.mean[i])), y: rows.map((i) => scaled(y, ys.mean[i])), mode: "markers" });
  /** @param {boolean} edge @param {Plotly.Marker} marker @returns {Plotly.Trace} */
  const marks = (edge, marker) => {
    const rows = all.filter((i) => drawn.edge[i] === edge);
    const ranged = edge || all.length <= MANY;
    const pale = faded(theme.muted, 0.35);
    return {
      ...at(rows),
      ...(ranged ? { error_x: whiskers(xs, x, rows, pale), error_y: whiskers(ys, y, rows, pale) } : {}),
      marker: { ...marker, color: rows.map((i) => score.mean[i]), cmin: worst, cmax: best > worst ? best : worst + 1, colorscale: scale(theme), line: { width: 1.2, color: rows.map((i) => (drawn.able[i] ? theme.ink : theme["context-mark"])) } },
      customdata: rows.map((i) => drawn.agents[i]),
      text: rows.map((i) => words(drawn, i, groupAt[i].length)),
      hovertemplate: "%{text}<extra></extra>",
    };
  };
  const ringed = all.filter((i) => ticked.has(drawn.agents[i]));
  /** @type {Plotly.Trace[]} */
  const traces = [];
  if (drawn.control) {
    const { [along.x]: cx, [along.y]: cy } = drawn.control;
    traces.push({ x: cx.map((v) => scaled(x, v)), y: cy.map((v) => scaled(y, v)), mode: "markers", marker: { symbol: "x-thin", size: 9, color: theme["context-mark"], line: { width: 1.6, color: theme["context-mark"] } }, hovertemplate: "Of the control’s latest population<extra></extra>" });
  }
  traces.push(marks(false, { symbol: "square", size: OFF_EDGE }), marks(true, { symbol: "circle", size: ON_EDGE }));
  const hollow = all.filter((i) => drawn.held[i] === "fragile");
  if (hollow.length) traces.push({ ...at(hollow), marker: { symbol: "circle", size: 5, color: theme.surface, line: { width: 1, color: theme.ink } }, hoverinfo: "skip" });
  // No-break spaces move the count from the middle of its mark to beside it.
  traces.push({ ...at(shared.map(([first]) => first)), mode: "text", text: shared.map(({ length }) => `\u00a0\u00a0\u00a0${whole(length)}`), textposition: "bottom right", textfont: { size: 12, color: theme.ink }, hoverinfo: "skip" });
  traces.push({ ...at(ringed), mode: "markers+text", marker: { symbol: "circle-open", size: 22, color: theme.ink, line: { width: 1.8, color: theme.ink } }, text: ringed.map((i) => String(drawn.agents[i])), textposition: "top center", textfont: { size: 12, color: theme.ink }, hoverinfo: "skip" });
  const layout = layoutOf(theme, margin);
  for (const [name, lines] of /** @type {const} */ ([["xaxis", across], ["yaxis", upright]])) {
    const title = { title: lines.join("<br>"), unit: "", toward: "", direction: "max" };
    layout[name] = { ...axisOf(title, theme, narrow), range: ranges[name] };
  }
  await Plotly.react(chart, traces, layout, CONFIG);
  const plot = /** @type {Plotly.Element} */ (chart);
  const explained = () => {
    explain(chart, "xtitle", x);
    explain(chart, "ytitle", y);
  };
  explained();
  plot.removeAllListeners("plotly_afterplot");
  plot.on("plotly_afterplot", explained); // a chart that follows the window's width writes its titles anew
  chart.setAttribute("aria-label", `${drawn.agents.length} agents: ${x.title} across, ${y.title} up; the table below tells the same`);
  plot.removeAllListeners("plotly_click");
  plot.on("plotly_click", ({ points }) => {
    const agent = points[0]?.customdata;
    if (typeof agent !== "number") return;
    const here = groupAt[drawn.agents.indexOf(agent)].map((i) => drawn.agents[i]);
    last = here[(here.indexOf(last) + 1) % here.length];
    open(last);
  });
  return shared.map((group) => group.map((i) => drawn.agents[i]));
}
