// The two charts of a job: its growing edge, and how far it got round by round. Plotly draws; colours are the tokens.
import { axisOf, CONFIG, extent, layoutOf, padded, range, reference, stairs, valueText, wholeAxisOf } from "./parts.js";
import { plotly } from "../charts/plotly.js";
import { faded, tokens } from "../charts/theme.js";

const NARROW = 560;

const EARLY = [
  { symbol: "circle-open", opacity: 0.55 },
  { symbol: "square-open", opacity: 0.75 },
  { symbol: "triangle-up-open", opacity: 1 },
];

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

function dots(around, theme) {
  const xs = [];
  const ys = [];
  for (const picture of around) {
    picture.verdict.forEach((verdict, i) => {
      if (verdict !== 0) return;
      xs.push(picture.x[i]);
      ys.push(picture.y[i]);
    });
  }
  return { x: xs, y: ys, mode: "markers", marker: { size: 3.6, color: theme["context-mark"], opacity: 0.42 }, hoverinfo: "skip" };
}

function marks(picture, verdict, rows, { x, y, theme }) {
  const chosen = rows.filter((i) => picture.verdict[i] === verdict);
  const bars = (axis, values, halves) => {
    if (verdict !== 2) return undefined;
    const toward = (sign) =>
      chosen.map((i) => {
        const room = axis.cap !== null && sign > 0 === (axis.direction === "max") ? Math.abs(axis.cap - values[i]) : Infinity;
        return Math.min(halves[i] ?? 0, room); // no value lies beyond the cap
      });
    return { type: "data", symmetric: false, array: toward(1), arrayminus: toward(-1), color: faded(theme.over, 0.35), thickness: 1, width: 3 };
  };
  const marker =
    verdict === 2
      ? { symbol: "diamond", size: 9, color: theme.over, line: { width: 1, color: theme.surface } }
      : verdict === 1
        ? { symbol: "diamond-open", size: 7.5, color: theme["unsure-mark"], line: { width: 1.6, color: theme["unsure-mark"] } }
        : { symbol: "circle", size: 5, color: theme.accent };
  const words = (axis, value, half) => {
    const known = half === null ? "" : ` (${range(axis, value - half, value + half)})`;
    return `${axis.title}: <b>${valueText(axis, value)}</b>${known}`;
  };
  return {
    x: chosen.map((i) => picture.x[i]),
    y: chosen.map((i) => picture.y[i]),
    error_x: bars(x, picture.x, picture.xh),
    error_y: bars(y, picture.y, picture.yh),
    mode: "markers",
    marker,
    text: chosen.map((i) => `${words(y, picture.y[i], picture.yh[i])}<br>${words(x, picture.x[i], picture.xh[i])}`),
    hovertemplate: "%{text}<extra></extra>",
  };
}

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

/** The growing edge. `now`, `early` [{tick, picture}] and `around` [picture] as the server drew them. */
export async function drawFront(element, { x, y, now, early, around, search }) {
  const Plotly = await plotly();
  const theme = tokens();
  const narrow = element.clientWidth < NARROW;
  const style = { x, y, theme };
  const all = [now, ...early.map((e) => e.picture), ...around];
  const within = (v) => (y.cap === null ? v : y.direction === "max" ? Math.min(v, y.cap) : Math.max(v, y.cap));
  const ends = (values, halves) => values.flatMap((v, i) => (halves?.[i] ? [within(v - halves[i]), within(v + halves[i])] : [v]));
  const strong = (picture, name) => picture[`${name}h`].map((h, i) => (picture.verdict[i] === 2 ? h : 0));
  const ranges = {
    x: padded(extent([...all.flatMap((p) => p.x), ...(now.median === null ? [] : [now.median])])),
    y: padded(extent([...all.flatMap((p) => p.y), ...ends(now.y, strong(now, "y")), ...(y.line === null ? [] : [y.line])])),
  };
  const median = x.column >= 0 && now.median !== null && x.strength ? now.median : null;
  const layout = layoutOf(theme, { l: narrow ? 48 : 58, r: 12, t: 8, b: 46 });
  layout.xaxis = { ...axisOf(x, theme, narrow), range: ranges.x };
  layout.yaxis = { ...axisOf(y, theme, narrow), range: ranges.y };
  problemCorner(layout, theme, { x, y, median, ranges });
  const [xs, ys, rows] = stairs(now, x);
  const others = now.x.map((_, i) => i).filter((i) => !now.edge[i]);
  const inner = (verdict) => ({ ...marks(now, verdict, others, style), error_x: undefined, error_y: undefined, opacity: 0.5 });
  const shrink = (trace, size) => ({ ...trace, marker: { ...trace.marker, size } });
  const traces = [dots(around, theme)];
  early.forEach((e, i) => traces.push(...earlyTrace(e, i, style)));
  if (search) {
    traces.push(shrink(inner(0), 3.6), shrink(inner(1), 5.5), shrink(inner(2), 6));
    traces.push({ x: xs, y: ys, mode: "lines", line: { color: theme.accent, width: 2.6 }, hoverinfo: "skip" });
  }
  const marked = search ? rows : now.x.map((_, i) => i);
  for (const verdict of [0, 1, 2]) traces.push(marks(now, verdict, marked, style));
  if (y.line !== null) reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: `The line: ${valueText(y, y.line)}` });
  if (median !== null) {
    const late = median > ranges.x[0] + 0.6 * (ranges.x[1] - ranges.x[0]);
    reference(layout, theme, { axis: "x", value: median, dash: "1.5px,3px", width: 1.5, text: `Median baseline team, ${valueText(x, median)}`, place: late ? "left" : "right" });
  }
  await Plotly.react(element, traces, layout, CONFIG);
}

/** How far the search got, round by round, with its 95 % range where the rounds know it. */
export async function drawRounds(element, { y, rounds, ticks }) {
  const Plotly = await plotly();
  const theme = tokens();
  const layout = layoutOf(theme, { l: 46, r: 12, t: 8, b: 42 });
  const known = rounds.tick.map((_, i) => i).filter((i) => rounds.worst[i] !== null);
  const at = (name) => known.map((i) => rounds[name][i]);
  const values = [...at("worst"), ...at("worst_low"), ...at("worst_high"), ...(y.line === null ? [] : [y.line])];
  const span = [0, Math.max(ticks, 1)];
  layout.xaxis = { ...wholeAxisOf({ title: "Round", unit: "", toward: "later", direction: "max" }, theme, true, span), range: span };
  const short = y.title.length + y.unit.length > 22 ? { ...y, unit: "" } : y; // the axis is no longer than that
  layout.yaxis = { ...axisOf({ ...short, toward: "" }, theme, true), range: padded(extent(values), 0.12) };
  const ticksKnown = at("tick");
  const band = {
    x: [...ticksKnown, ...ticksKnown.slice().reverse()],
    y: [...at("worst_high"), ...at("worst_low").reverse()],
    fill: "toself",
    fillcolor: faded(theme.accent, 0.16),
    line: { width: 0 },
    mode: "lines",
    hoverinfo: "skip",
  };
  const line = { x: ticksKnown, y: at("worst"), mode: "lines", line: { color: theme.accent, width: 2, shape: "hv" }, hovertemplate: "Round %{x}: %{y:.2f}<extra></extra>" };
  const tip = { x: ticksKnown.slice(-1), y: at("worst").slice(-1), mode: "markers", marker: { symbol: "diamond", size: 10, color: theme.over }, cliponaxis: false, hoverinfo: "skip" };
  if (y.line !== null) {
    reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: "the line" });
    Object.assign(layout.annotations[0], { x: 1, xanchor: "right", xshift: -2 });
  }
  await Plotly.react(element, [band, line, tip], layout, CONFIG);
}
