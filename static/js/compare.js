// Searches side by side: their edges in one picture, and over what each compared the volume of its edge; with one goal,
// where there is no edge, its best. The server's answer holds the course of those numbers; the edges are the pictures
// that the jobs' own pages show.
import { edgeRows } from "./job/edge.js";
import { axisOf, CONFIG, extent, layoutOf, lineOf, padded, reference, stairs, textsOf, valueText, wholeAxisOf } from "./job/parts.js";
import { plotly } from "./charts/plotly.js";
import { faded, tokens } from "./charts/theme.js";
import { rangeAround, whole } from "./charts/format.js";
import { embedded, find, make } from "./elements.js";
import { family } from "./marks.js";
import { fillTable } from "./tables.js";
/** @import { Theme } from "./charts/theme.js" */
/** @import { Picture } from "./job/edge.js" */
/** @import { Axis } from "./job/parts.js" */

/** A job's course, round by round: lineups compared so far, what is told of them, and half of its range.
 * @typedef {{ tick: number[], lineups: number[], value: number[], half: (number | null)[] }} Course */
/** `front`: where its edge is; `place`: its family's number.
 * @typedef {{ place: number, name: string, front: string, rounds: Course }} Job */
/** @typedef {Job & { picture: Picture }} Edge */

/** @type {{ x: Axis, y: Axis, course: Axis & { from_zero?: boolean }, many: string, jobs: Job[] }} */
const { x, y, course, many, jobs } = embedded("compare-data");
/** @param {string} name */
const at = (name) => find(document, `[data-${name}]`);
const SYMBOLS = ["circle", "square", "triangle-up", "cross", "hexagon", "triangle-down", "hourglass", "star"];
const NARROW = 560;

const single = !x;
const wanted = single ? [] : jobs;
/** @type {(Picture | null)[]} */
const fetched = await Promise.all(wanted.map((job) => fetch(job.front).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null)));
const edges = wanted.flatMap((job, i) => {
  const picture = fetched[i];
  return picture ? [{ ...job, picture }] : [];
});
if (!single) at("lost").hidden = edges.length === jobs.length;

/** @param {number} place @param {Theme} theme */
const style = (place, theme) => ({ colour: theme.family[place - 1], symbol: SYMBOLS[place - 1] });

/** `over`: how many are drawn over it, so that one that lies under another can still be seen.
 * @param {Edge} edge @param {Theme} theme @param {number} over @returns {Plotly.Trace[]} */
function edgeTraces({ place, name, picture }, theme, over) {
  const { colour, symbol } = style(place, theme);
  const [xs, ys, rows] = stairs(picture, x);
  const hoverText = (/** @type {number} */ i) => {
    const { value, range } = textsOf(y, picture.y[i], rangeAround(picture.y[i], picture.yh[i], picture.ends.y));
    return `${y.title}: <b>${value}</b>${range && ` (${range})`}<br>${x.title}: <b>${valueText(x, picture.x[i])}</b>`;
  };
  return [
    { x: xs, y: ys, mode: "lines", line: { color: faded(colour, 0.75), width: 2 + 2 * over }, hoverinfo: "skip" },
    {
      x: rows.map((i) => picture.x[i]),
      y: rows.map((i) => picture.y[i]),
      mode: "markers",
      marker: { symbol, size: 8 + 4 * over, color: colour, line: { width: 1, color: theme.surface } },
      text: rows.map((i) => `${name}<br>${hoverText(i)}`),
      hovertemplate: "%{text}<extra></extra>",
    },
  ];
}

async function drawEdges() {
  const Plotly = await plotly();
  const theme = tokens();
  const place = at("edges");
  const narrow = place.clientWidth < NARROW;
  const layout = layoutOf(theme, { l: narrow ? 48 : 58, r: 12, t: 8, b: 46 });
  layout.xaxis = { ...axisOf(x, theme, narrow), range: padded(extent(edges.flatMap((e) => e.picture.x))) };
  layout.yaxis = { ...axisOf(y, theme, narrow), range: padded(extent([...edges.flatMap((e) => e.picture.y), ...(y.line === null ? [] : [y.line])])) };
  if (y.line !== null) reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: `The line: ${lineOf(y)}` });
  await Plotly.react(place, edges.flatMap((edge, i) => edgeTraces(edge, theme, Math.min(2, edges.length - 1 - i))), layout, CONFIG);
}

/** @param {Course} rounds @param {number} i */
const roundText = ({ value, half }, i) => {
  const { value: words, range } = textsOf(course, value[i], course.digits ? null : rangeAround(value[i], half[i], []));
  return `<b>${words}</b>${range && ` (${range})`}`;
};

async function drawCourse() {
  const Plotly = await plotly();
  const theme = tokens();
  const layout = layoutOf(theme, { l: 52, r: 12, t: 8, b: 46 });
  const plain = { unit: "", direction: "max" };
  const compared = jobs.flatMap(({ rounds }) => rounds.lineups);
  layout.xaxis = { ...wholeAxisOf({ ...plain, title: `${many} compared`, toward: "later" }, theme, true, [0, ...compared]), rangemode: "tozero" };
  layout.yaxis = { ...axisOf(course, theme, true), ...(course.from_zero ? { rangemode: "tozero" } : {}) };
  if (course.line !== null) reference(layout, theme, { axis: "y", value: course.line, dash: "5px,4px", width: 1.4, text: `The line: ${lineOf(course)}` });
  const traces = jobs.map(({ place, name, rounds }) => {
    const { colour, symbol } = style(place, theme);
    const few = Math.max(1, Math.ceil(rounds.tick.length / 8));
    return {
      x: rounds.lineups,
      y: rounds.value,
      mode: "lines+markers",
      line: { color: colour, width: 2 },
      // a mark now and then tells the lines apart without colour
      marker: { symbol, size: rounds.tick.map((_, i) => (i % few === few - 1 || i === rounds.tick.length - 1 ? 8 : 0)), color: colour, line: { width: 1, color: theme.surface } },
      text: rounds.tick.map((tick, i) => `${name}<br>Round ${whole(tick)}: ${roundText(rounds, i)}`),
      hovertemplate: "%{text}<extra></extra>",
    };
  });
  await Plotly.react(at("volume"), traces, layout, CONFIG);
}

function legend() {
  at("legend").replaceChildren(
    ...jobs.map(({ place, name }) => make("span", { class: "with-mark" }, family(place), name)),
  );
}

function table() {
  const rows = edges.flatMap(({ name, picture }) => edgeRows(picture, { x, y }, (i) => picture.edge[i]).map(({ cells }) => [name, ...cells]));
  fillTable(at("edges-head"), at("edges-body"), ["Search", y.title, "95 % range", x.title], rows, true);
}

const draw = () => Promise.all(single ? [drawCourse()] : [drawEdges(), drawCourse()]);
legend();
if (!single) table();
draw();
document.addEventListener("equipoise:theme", draw);
