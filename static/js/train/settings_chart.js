// Players as lines across their settings and what they reached, coloured by it: which settings go with good players.
import { decimals } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { faded } from "../charts/theme.js";
import { axisOf, CONFIG, layoutOf } from "../job/parts.js";

/** @import { Theme } from "../charts/theme.js" */

/** Ends of what was seen; `log`: told apart by ratios. @typedef {{ low: number, high: number, log?: boolean }} Span */
/** A setting that evolved. @typedef {Span & { title: string, range: string }} Gene */
/** What a player has in each setting, and what it reached in each goal. @typedef {{ id: number, genes: number[], goals: number[] }} Player */
/** The players that the server chose of `count`. @typedef {{ genes: Gene[], players: Player[], count: number }} Players */

const SHADES = 12;
const NARROW = 560;
const plain = { title: "", unit: "", toward: "", direction: "max" };

/** Where a value stands between the ends of its range, in [0, 1].
 * @param {Span} span @param {number} value */
const place = ({ low, high, log }, value) => (log ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : (value - low) / (high - low));

/** @param {number[]} values @returns {Span} */
function ends(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? { low, high } : { low, high: low + 1 };
}

/** `goals`: all that were reached for, of which the one at `index` colours the lines; `shown`: how values are written.
 * @param {HTMLElement} chart
 * @param {Pick<Players, "genes" | "players">} found
 * @param {{ all: { title: string, direction: string }[], index: number }} goals
 * @param {(value: number) => string} shown
 * @param {Theme} theme */
export async function drawSettings(chart, { genes, players }, { all: goals, index }, shown, theme) {
  const narrow = chart.clientWidth < NARROW;
  const spans = goals.map((_, i) => ends(players.map((p) => p.goals[i])));
  const span = spans[index];
  /** @type {Gene[]} */
  const axes = [...genes, ...goals.map(({ title }, i) => ({ ...spans[i], log: false, title, range: `${shown(spans[i].low)} to ${shown(spans[i].high)}` }))];
  const line = (/** @type {Player} */ p) => [...p.genes, ...p.goals].map((v, i) => place(axes[i], v));
  const rank = (/** @type {Player} */ p) => place(span, p.goals[index]);
  const goodness = (/** @type {Player} */ p) => (goals[index].direction === "max" ? rank(p) : 1 - rank(p));
  const lines = (/** @type {Player[]} */ all) => ({ x: all.flatMap(() => [...axes.map((_, i) => i), null]), y: all.flatMap((p) => [...line(p), null]), hoverinfo: "skip" });
  const shade = (/** @type {Player} */ p) => Math.min(SHADES - 1, Math.floor(goodness(p) * SHADES));
  /** @type {Plotly.Trace[]} */
  const traces = Array.from({ length: SHADES }, (_, k) => {
    const share = k / (SHADES - 1);
    const all = players.filter((p) => shade(p) === k);
    return { ...lines(all), mode: "lines", line: { color: faded(theme.accent, 0.14 + 0.7 * share), width: 0.8 + share } };
  });
  const best = players.reduce((a, b) => (goodness(b) > goodness(a) ? b : a));
  traces.push({ ...lines([best]), mode: "lines+markers", line: { color: theme.ink, width: 2.4 }, marker: { size: 7, color: theme.ink } });
  // a mark that nobody sees carries the bar that tells the colours
  traces.push({
    x: [0], y: [0], mode: "markers", hoverinfo: "skip",
    marker: {
      opacity: 0, color: [span.low], cmin: span.low, cmax: span.high, reversescale: goals[index].direction === "min", colorscale: [[0, faded(theme.accent, 0.14)], [1, theme.accent]],
      showscale: !narrow, colorbar: { thickness: 12, outlinewidth: 0, tickfont: { size: 12, color: theme.muted } },
    },
  });
  const layout = layoutOf(theme, { l: 40, r: narrow ? 24 : 84, t: 8, b: narrow ? 92 : 56 });
  const text = axes.map((axis) => (narrow ? axis.title.replaceAll(" ", "<br>") : `${axis.title}<br>${axis.range}`));
  layout.xaxis = { ...axisOf(plain, theme, narrow), range: [-0.35, axes.length - 0.65], tickvals: axes.map((_, i) => i), ticktext: text, showgrid: true };
  layout.yaxis = { ...axisOf(plain, theme, true), range: [-0.05, 1.05], tickvals: [0, 1], ticktext: ["low", "high"], showgrid: false };
  const Plotly = await plotly();
  chart.setAttribute("aria-label", `${decimals(players.length, 0)} players as lines across their settings; the table below tells the same`);
  await Plotly.react(chart, traces, layout, CONFIG);
}
