// What the charts of jobs share: words and axes, the layout, an edge as stairs, reference lines. Colours are the tokens.
import { axisTitle, lineText, textsWithRange, worthOneMore } from "../charts/format.js";
import { faded } from "../charts/theme.js";
/** @import { Ends } from "../charts/format.js" */
/** @import { Theme } from "../charts/theme.js" */
/** @import { Picture } from "./edge.js" */

/** What an axis is called. `direction`: "max" or "min". @typedef {{ title: string, unit: string, toward: string, direction: string }} Label */
/** A measure of a job: its line and its cap, where it has them; `column`: its place among the objectives, or -1.
 * @typedef {Label & { line: number | null, column: number, cap: number | null, digits?: number, strength?: boolean, typical?: string }} Axis */
/** What is told of values of an axis. @typedef {Pick<Axis, "unit" | "line" | "digits">} Measure */
/** A layout whose parts that the charts add to are there.
 * @typedef {Plotly.Layout & { shapes: Plotly.Shape[], annotations: Plotly.Annotation[], margin: Plotly.Margin }} Layout */

/** @type {Plotly.Config} */
export const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false, showTips: false };

/** @param {number | null | undefined} value @returns {value is number} */
const isNumber = (value) => Number.isFinite(value);

/** Digits after the point that a value of an axis is worth at least.
 * @param {{ unit: string }} axis @param {number} value */
export function digitsOf({ unit }, value) {
  if (unit === "×") return 1;
  if (unit === "%" || unit === "points") return 0;
  const size = Math.abs(value);
  return size >= 100 ? 0 : size >= 10 ? 1 : 2;
}
/** Digits after the point that all values of a column are worth at least: by the unit, or by the size of a typical one,
 * and by half of its range.
 * @param {{ unit: string, digits?: number }} axis @param {(number | null)[]} values @param {(number | null)[]} halves */
export function digitsOfColumn(axis, values, halves) {
  const sizes = values.filter(isNumber).map(Math.abs).sort((a, b) => a - b);
  const usual = digitsOf(axis, sizes[sizes.length >> 1] ?? 0);
  return axis.digits ?? usual + worthOneMore(halves, usual);
}
/** A value of an axis and its range in words, {value, range}, told apart from its line and, where that counts, from the
 * strength of the median baseline team (`level`, of charts/format.js).
 * @param {Measure} axis @param {number} value @param {Ends | null} range @param {{ value: number } | null} [level] */
export function textsOf(axis, value, range, level = null) {
  const usual = digitsOf(axis, value);
  const digits = axis.digits ?? usual + (range ? worthOneMore([(range[1] - range[0]) / 2], usual) : 0);
  return textsWithRange(value, range, { unit: axis.unit, digits, lines: [axis.line, level?.value].filter(isNumber) });
}
/** @param {Measure} axis @param {number} value */
export const valueText = (axis, value) => textsOf(axis, value, null).value;
/** The line in words. @param {Measure} axis */
export const lineOf = (axis) => (axis.line === null ? "" : lineText(axis.line, { unit: axis.unit, digits: digitsOf(axis, axis.line) }));

/** @param {Label} axis @param {Theme} theme @param {boolean} narrow @returns {Plotly.Axis} */
export function axisOf(axis, theme, narrow) {
  return {
    title: { text: axisTitle(axis), font: { size: 12, color: theme.ink }, standoff: 8 },
    tickfont: { size: 12, color: theme.muted },
    gridcolor: theme.grid,
    linecolor: theme["control-edge"],
    showline: true,
    ticks: "outside",
    ticklen: 4,
    tickcolor: theme["control-edge"],
    zeroline: false,
    fixedrange: true,
    nticks: narrow ? 5 : 9,
    separatethousands: true,
  };
}

/** The axis of whole things such as rounds, from the first to the last of `values`: its marks stand at whole numbers.
 * @param {Label} axis @param {Theme} theme @param {boolean} narrow @param {number[]} values */
export function wholeAxisOf(axis, theme, narrow, values) {
  const [low, high] = extent(values);
  const rough = (high - low) / (narrow ? 5 : 9);
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, rough))));
  const dtick = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= rough);
  return { ...axisOf(axis, theme, narrow), tick0: 0, dtick, tickformat: ",d" };
}

/** @param {Theme} theme @param {Plotly.Margin} margin @returns {Layout} */
export function layoutOf(theme, margin) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.muted },
    margin,
    showlegend: false,
    dragmode: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: theme.surface, bordercolor: theme["control-edge"], font: { family: theme.font, size: 13, color: theme.ink }, align: "left" },
    shapes: [],
    annotations: [],
  };
}

/** The edge as stairs, so that what it leaves out is visible, and its rows by rising x: [xs, ys, rows].
 * @param {Picture} picture @param {Label} x @returns {[xs: number[], ys: number[], rows: number[]]} */
export function stairs(picture, x) {
  const rows = picture.x.map((_, i) => i).filter((i) => picture.edge[i]);
  rows.sort((a, b) => picture.x[a] - picture.x[b]);
  /** @type {number[]} */
  const xs = [];
  /** @type {number[]} */
  const ys = [];
  rows.forEach((row, i) => {
    const before = rows[i - 1];
    // Between two points only the one further along x holds.
    if (i > 0) xs.push(picture.x[x.direction === "max" ? before : row]);
    if (i > 0) ys.push(picture.y[x.direction === "max" ? row : before]);
    xs.push(picture.x[row]);
    ys.push(picture.y[row]);
  });
  return [xs, ys, rows];
}

/** @param {(number | null)[]} values @returns {[low: number, high: number]} */
export function extent(values) {
  const known = values.filter(isNumber);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
}

/** @param {[low: number, high: number]} range @param {number} [share] @returns {[low: number, high: number]} */
export function padded([low, high], share = 0.05) {
  const room = (high - low || Math.abs(high) || 1) * share;
  return [low - room, high + room];
}

/** A straight line across the plot with its words: the line, the median baseline.
 * @param {Layout} layout
 * @param {Theme} theme
 * @param {{ axis: string, value: number, dash: string, width: number, text: string, place?: string }} line */
export function reference(layout, theme, { axis, value, dash, width, text, place }) {
  const across = axis === "y";
  layout.shapes.push({
    type: "line",
    layer: "above",
    xref: across ? "paper" : "x",
    yref: across ? "y" : "paper",
    x0: across ? 0 : value,
    x1: across ? 1 : value,
    y0: across ? value : 0,
    y1: across ? value : 1,
    line: { color: theme.ink, width, dash },
  });
  layout.annotations.push({
    text,
    showarrow: false,
    font: { size: 12, color: theme.ink },
    xref: across ? "paper" : "x",
    yref: across ? "y" : "paper",
    x: across ? 0 : value,
    y: across ? value : 1,
    xanchor: "left",
    yanchor: across ? "bottom" : "top",
    xshift: across ? 8 : place === "left" ? -8 : 8,
    ...(place === "left" ? { xanchor: "right" } : {}),
    bgcolor: faded(theme.surface, 0.82),
  });
}
