// The two charts of a job: its growing edge, and how far it got round by round. Plotly draws; colours are the tokens.
import { levelOf, rangeAround, withUnit } from "../charts/format.js";
import { axisOf, CONFIG, digitsOf, extent, layoutOf, lineOf, padded, reference, stairs, textsOf, valueText, wholeAxisOf } from "./parts.js";
import { plotly } from "../charts/plotly.js";
import { faded, tokens } from "../charts/theme.js";
/** @import { Ends } from "../charts/format.js" */
/** @import { Theme } from "../charts/theme.js" */
/** @import { Dots, Early, Picture } from "./edge.js" */
/** @import { Axis, Layout } from "./parts.js" */
/** @import { Rounds } from "./state.js" */

/** What marks are drawn by. @typedef {{ x: Axis, y: Axis, theme: Theme, whiskers: boolean }} Style */
/** @typedef {"x" | "y"} Along */

const NARROW = 560;

const EARLY = [
  { symbol: "circle-open", opacity: 0.55 },
  { symbol: "square-open", opacity: 0.75 },
  { symbol: "triangle-up-open", opacity: 1 },
];

/** @param {Early} early @param {number} i @param {{ x: Axis, theme: Theme }} style @returns {Plotly.Trace[]} */
function earlyTrace({ tick, picture }, i, { x, theme }) {
  const [xs, ys, rows] = stairs(picture, x);
  const colour = faded(theme.accent, 0.35 + 0.2 * i);
  return [
    { x: xs, y: ys, mode: "lines", line: { color: colour, width: 1.5 }, hoverinfo: "skip" },
    {
      x: rows.map((r) => picture.x[r]),
      y: rows.map((r) => picture.y[r]),
      mode: "markers",
      marker: { symbol: EARLY[i].symbol, size: 6, color: colour, line: { width: 1.2, color: colour } },
      hovertemplate: `Round ${tick}<extra></extra>`,
    },
  ];
}

/** Some of what was played, on both sides of the line.
 * @param {Dots[]} around @param {Theme} theme @returns {Plotly.Trace} */
function dots(around, theme) {
  return { x: around.flatMap(({ x }) => x), y: around.flatMap(({ y }) => y), mode: "markers", marker: { size: 3.6, color: theme["context-mark"], opacity: 0.42 }, hoverinfo: "skip" };
}

/** The range of a lineup along "x" or "y"; null where none is known.
 * @param {Picture} picture @param {Along} along @param {number} i @returns {Ends | null} */
const rangeOf = (picture, along, i) => rangeAround(picture[along][i], picture[`${along}h`][i], picture.ends[along]);

/** The strength of the median baseline team, where x is strength: what strong lineups are told apart from.
 * @param {Axis} x @param {Picture} picture */
const levelAlong = (x, { median, median_half: half }) =>
  x.column >= 0 && x.strength && median !== null ? levelOf({ value: median, half: half ?? undefined }, digitsOf(x, median)) : null;

/** Marks of one verdict; whiskers on what is over the line and strong, or (`whiskers`) on all.
 * @param {Picture} picture
 * @param {number} verdict
 * @param {number[]} rows
 * @param {Style} style
 * @returns {Plotly.Trace} */
function marks(picture, verdict, rows, { x, y, theme, whiskers }) {
  const chosen = rows.filter((i) => picture.verdict[i] === verdict);
  /** @param {Along} along @returns {Plotly.ErrorBar | undefined} */
  const bars = (along) => {
    if (verdict !== 2 && !whiskers) return undefined;
    const ends = chosen.map((i) => rangeOf(picture, along, i) ?? [picture[along][i], picture[along][i]]);
    const toward = (/** @type {0 | 1} */ end, /** @type {1 | -1} */ sign) => chosen.map((i, k) => sign * (ends[k][end] - picture[along][i]));
    return { type: "data", symmetric: false, array: toward(1, 1), arrayminus: toward(0, -1), color: faded([theme.accent, theme["unsure-mark"], theme.over][verdict], 0.35), thickness: 1, width: 3 };
  };
  const marker =
    verdict === 2
      ? { symbol: "diamond", size: 9, color: theme.over, line: { width: 1, color: theme.surface } }
      : verdict === 1
        ? { symbol: "diamond-open", size: 7.5, color: theme["unsure-mark"], line: { width: 1.6, color: theme["unsure-mark"] } }
        : { symbol: "circle", size: 5, color: theme.accent };
  const level = levelAlong(x, picture);
  /** @param {Axis} axis @param {Along} along @param {number} i */
  const words = (axis, along, i) => {
    const { value, range } = textsOf(axis, picture[along][i], rangeOf(picture, along, i), along === "x" ? level : null);
    return `${axis.title}: <b>${value}</b>${range && ` (${range})`}`;
  };
  return {
    x: chosen.map((i) => picture.x[i]),
    y: chosen.map((i) => picture.y[i]),
    error_x: bars("x"),
    error_y: bars("y"),
    mode: "markers",
    marker,
    text: chosen.map((i) => `${words(y, "y", i)}<br>${words(x, "x", i)}`),
    hovertemplate: "%{text}<extra></extra>",
  };
}

/** @param {Layout} layout
 * @param {Theme} theme
 * @param {{ x: Axis, y: Axis, median: number | null, ranges: Record<Along, number[]> }} corner */
function problemCorner(layout, theme, { x, y, median, ranges }) {
  if (y.line === null) return;
  const up = y.direction === "max";
  const right = x.direction === "max";
  const [xFrom, xTo] = median === null ? [ranges.x[0], ranges.x[1]] : right ? [median, ranges.x[1]] : [ranges.x[0], median];
  layout.shapes.push({
    type: "rect",
    layer: "below",
    x0: xFrom,
    x1: xTo,
    y0: up ? y.line : ranges.y[0],
    y1: up ? ranges.y[1] : y.line,
    line: { width: 0 },
    fillcolor: faded(theme.over, theme.tint),
  });
}

/** The growing edge. `now`, `early` [{tick, picture}] and `around` [picture] as the server drew them.
 * @param {HTMLElement} element
 * @param {{ x: Axis, y: Axis, now: Picture, early: Early[], around: Dots[], search: boolean }} drawn */
export async function drawFront(element, { x, y, now, early, around, search }) {
  const Plotly = await plotly();
  const theme = tokens();
  const narrow = element.clientWidth < NARROW;
  const style = { x, y, theme, whiskers: !search };
  const all = [now, ...early.map((e) => e.picture), ...around];
  const median = x.column >= 0 && now.median !== null && x.strength ? now.median : null;
  const whiskers = (/** @type {Along} */ along) => now[along].flatMap((_, i) => (now.verdict[i] === 2 || !search ? (rangeOf(now, along, i) ?? []) : []));
  const ranges = {
    x: padded(extent([...all.flatMap((p) => p.x), ...(search ? [] : whiskers("x")), ...(median === null ? [] : [median])])),
    y: padded(extent([...all.flatMap((p) => p.y), ...whiskers("y"), ...(y.line === null ? [] : [y.line])])),
  };
  const layout = layoutOf(theme, { l: narrow ? 48 : 58, r: 12, t: 8, b: 46 });
  layout.xaxis = { ...axisOf(x, theme, narrow), range: ranges.x };
  layout.yaxis = { ...axisOf(y, theme, narrow), range: ranges.y };
  problemCorner(layout, theme, { x, y, median, ranges });
  const [xs, ys, rows] = stairs(now, x);
  const others = now.x.map((_, i) => i).filter((i) => !now.edge[i]);
  const inner = (/** @type {number} */ verdict) => ({ ...marks(now, verdict, others, style), error_x: undefined, error_y: undefined, opacity: 0.5 });
  /** @param {Plotly.Trace} trace @param {number} size */
  const shrink = (trace, size) => ({ ...trace, marker: { ...trace.marker, size } });
  const traces = [dots(around, theme)];
  early.forEach((e, i) => traces.push(...earlyTrace(e, i, style)));
  if (search) {
    traces.push(shrink(inner(0), 3.6), shrink(inner(1), 5.5));
    traces.push({ x: xs, y: ys, mode: "lines", line: { color: theme.accent, width: 2.6 }, hoverinfo: "skip" });
  }
  const marked = search ? rows : now.x.map((_, i) => i);
  traces.push(marks(now, 0, marked, style), marks(now, 1, marked, style));
  traces.push(marks(now, 2, marked, style));
  if (search) traces.push({ ...shrink(inner(2), 6), opacity: 1 }); // nothing lies on what is over the line and strong
  if (y.line !== null) reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: `The line: ${lineOf(y)}` });
  if (median !== null) {
    const late = median > ranges.x[0] + 0.6 * (ranges.x[1] - ranges.x[0]);
    reference(layout, theme, { axis: "x", value: median, dash: "1.5px,3px", width: 1.5, text: `Median baseline team, ${withUnit(median, { unit: x.unit, digits: levelAlong(x, now)?.digits ?? 0 })}`, place: late ? "left" : "right" });
  }
  await Plotly.react(element, traces, layout, CONFIG);
}

/** How far the search got, round by round, by its own battles.
 * @param {HTMLElement} element @param {{ y: Axis, rounds: Rounds, ticks: number }} drawn */
export async function drawRounds(element, { y, rounds, ticks }) {
  const Plotly = await plotly();
  const theme = tokens();
  const layout = layoutOf(theme, { l: 46, r: 12, t: 8, b: 42 });
  const known = rounds.tick.map((_, i) => i).filter((i) => rounds.worst[i] !== null);
  const worst = rounds.worst.filter((value) => value !== null);

  const values = [...worst, ...(y.line === null ? [] : [y.line])];
  const span = [0, Math.max(ticks, 1)];
  layout.xaxis = { ...wholeAxisOf({ title: "Round", unit: "", toward: "later", direction: "max" }, theme, true, span), range: span };
  const short = y.title.length + y.unit.length > 22 ? { ...y, unit: "" } : y; // the axis is no longer than that
  layout.yaxis = { ...axisOf({ ...short, toward: "" }, theme, true), range: padded(extent(values), 0.12), automargin: true };
  const ticksKnown = known.map((i) => rounds.tick[i]);
  const line = { x: ticksKnown, y: worst, mode: "lines", line: { color: theme.accent, width: 2, shape: "hv" }, text: worst.map((v) => valueText(y, v)), hovertemplate: "Round %{x}: %{text}<extra></extra>" };
  const tip = { x: ticksKnown.slice(-1), y: worst.slice(-1), mode: "markers", marker: { symbol: "circle", size: 8, color: theme.accent }, cliponaxis: false, hoverinfo: "skip" };
  if (y.line !== null) {
    reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: "the line" });
    Object.assign(layout.annotations[0], { x: 1, xanchor: "right", xshift: -2 });
  }
  await Plotly.react(element, [line, tip], layout, CONFIG);
}
