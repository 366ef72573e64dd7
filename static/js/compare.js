// Searches side by side: their edges in one picture, and over what each compared the volume of its edge; with one goal,
// where there is no edge, its best. The server's answer holds the course of those numbers; the edges are the pictures
// that the jobs' own pages show.
import { edgeRows } from "./job/edge.js";
import { axisOf, CONFIG, extent, layoutOf, lineOf, padded, reference, stairs, toldOf, valueText, wholeAxisOf } from "./job/parts.js";
import { plotly } from "./charts/plotly.js";
import { faded, tokens } from "./charts/theme.js";
import { rangeAround, whole } from "./charts/format.js";
import { family } from "./marks.js";

const { x, y, course, many, jobs } = JSON.parse(document.getElementById("compare-data").textContent);
const at = (name) => document.querySelector(`[data-${name}]`);
const SYMBOLS = ["circle", "square", "triangle-up", "cross", "hexagon", "triangle-down", "hourglass", "star"];
const NARROW = 560;

const single = !x;
const wanted = single ? [] : jobs;
const fetched = await Promise.all(wanted.map((job) => fetch(job.front).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null)));
const edges = wanted.map((job, i) => ({ ...job, picture: fetched[i] })).filter((job) => job.picture);
if (!single) at("lost").hidden = edges.length === jobs.length;

const style = (place, theme) => ({ colour: theme.family[place - 1], symbol: SYMBOLS[place - 1] });

/** `over`: how many are drawn over it, so that one that lies under another can still be seen. */
function edgeTraces({ place, name, picture }, theme, over) {
  const { colour, symbol } = style(place, theme);
  const [xs, ys, rows] = stairs(picture, x);
  const told = (i) => {
    const { value, range } = toldOf(y, picture.y[i], rangeAround(picture.y[i], picture.yh[i], picture.ends.y));
    return `${y.title}: <b>${value}</b>${range && ` (${range})`}<br>${x.title}: <b>${valueText(x, picture.x[i])}</b>`;
  };
  return [
    { x: xs, y: ys, mode: "lines", line: { color: faded(colour, 0.75), width: 2 + 2 * over }, hoverinfo: "skip" },
    {
      x: rows.map((i) => picture.x[i]),
      y: rows.map((i) => picture.y[i]),
      mode: "markers",
      marker: { symbol, size: 8 + 4 * over, color: colour, line: { width: 1, color: theme.surface } },
      text: rows.map((i) => `${name}<br>${told(i)}`),
      hovertemplate: "%{text}<extra></extra>",
    },
  ];
}

async function drawEdges() {
  const Plotly = await plotly();
  const theme = tokens();
  const element = at("edges");
  const narrow = element.clientWidth < NARROW;
  const layout = layoutOf(theme, { l: narrow ? 48 : 58, r: 12, t: 8, b: 46 });
  layout.xaxis = { ...axisOf(x, theme, narrow), range: padded(extent(edges.flatMap((e) => e.picture.x))) };
  layout.yaxis = { ...axisOf(y, theme, narrow), range: padded(extent([...edges.flatMap((e) => e.picture.y), ...(y.line === null ? [] : [y.line])])) };
  if (y.line !== null) reference(layout, theme, { axis: "y", value: y.line, dash: "5px,4px", width: 1.4, text: `The line: ${lineOf(y)}` });
  await Plotly.react(element, edges.flatMap((edge, i) => edgeTraces(edge, theme, Math.min(2, edges.length - 1 - i))), layout, CONFIG);
}

const told = ({ value, half }, i) => {
  const { value: words, range } = toldOf(course, value[i], course.digits ? null : rangeAround(value[i], half[i], []));
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
      text: rounds.tick.map((tick, i) => `${name}<br>Round ${whole(tick)}: ${told(rounds, i)}`),
      hovertemplate: "%{text}<extra></extra>",
    };
  });
  await Plotly.react(at("volume"), traces, layout, CONFIG);
}

function legend() {
  at("legend").replaceChildren(
    ...jobs.map(({ place, name }) => {
      const item = Object.assign(document.createElement("span"), { className: "with-mark" });
      item.append(family(place), name);
      return item;
    }),
  );
}

function table() {
  const cell = (text, name = "td") => Object.assign(document.createElement(name), { textContent: text });
  const heads = ["Search", y.title, "95 % range", x.title].map((text) => cell(text, "th"));
  for (const head of heads) head.scope = "col";
  at("edges-head").replaceChildren(...heads);
  const rows = edges.flatMap(({ name, picture }) =>
    edgeRows(picture, { x, y }, (i) => picture.edge[i]).map(({ cells }) => {
      const row = document.createElement("tr");
      row.append(Object.assign(cell(name, "th"), { scope: "row" }), ...cells.map((text) => cell(text)));
      return row;
    }),
  );
  at("edges-body").replaceChildren(...rows);
}

const draw = () => Promise.all(single ? [drawCourse()] : [drawEdges(), drawCourse()]);
legend();
if (!single) table();
draw();
document.addEventListener("equipoise:theme", draw);
