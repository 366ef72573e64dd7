// The curve of a training: episodes while it trains, evaluations with their ranges, the table that tells the same, and
// what the learner tells. Plotly draws; colours are the tokens.
import { decimals, whole } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { faded, tokens } from "../charts/theme.js";
import { closest, make } from "../elements.js";
import { CONFIG } from "../job/parts.js";
import { at, ended, page, rounds, state } from "../job/state.js";
import { column, latest, numberNames, policies, shown, showFigures } from "./figures.js";
/** @import { Theme } from "../charts/theme.js" */

const NARROW = 560;
let reward = ""; // the name of one reward; empty: all of them together

const training = () => (reward ? `return_${reward}` : "return");
const evaluation = (end = "") => `evaluation_return${reward ? `_${reward}` : ""}${end}`;

/** @param {string} title @param {Theme} theme @param {boolean} narrow @returns {Plotly.Axis} */
function axis(title, theme, narrow) {
  return {
    title: { text: title, font: { size: 12, color: theme.ink }, standoff: 8 },
    tickfont: { size: 12, color: theme.muted },
    gridcolor: theme.grid,
    linecolor: theme["control-edge"],
    showline: true,
    ticks: "outside",
    ticklen: 4,
    tickcolor: theme["control-edge"],
    zeroline: false,
    fixedrange: true,
    nticks: narrow ? 5 : 8,
    separatethousands: true,
  };
}

/** @param {Theme} theme
 * @param {{ x: string, y: string }} titles
 * @param {boolean} narrow
 * @returns {Plotly.Layout & { margin: Plotly.Margin }} */
function layout(theme, titles, narrow) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.muted },
    margin: { l: 58, r: 12, t: 8, b: 46 },
    showlegend: false,
    dragmode: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: theme.surface, bordercolor: theme["control-edge"], font: { family: theme.font, size: 13, color: theme.ink }, align: "left" },
    xaxis: { ...axis(titles.x, theme, narrow), range: [0, Math.max(...rounds.steps, 1) * 1.02] },
    yaxis: axis(titles.y, theme, narrow),
  };
}

/** @param {string} name */
const rows = (name) => rounds.tick.map((_, i) => i).filter((i) => column(name)[i] !== null);
/** @param {string} name @param {number[]} chosen */
const pick = (name, chosen) => chosen.map((i) => column(name)[i]);

/** What the episodes of each round brought: the mean, and where it is of all rewards, from the least to the most.
 * @param {Theme} theme @returns {Plotly.Trace[]} */
function trainingTraces(theme) {
  const played = rows(training());
  const x = pick("steps", played);
  const line = {
    x, y: pick(training(), played), mode: played.length > 1 ? "lines" : "markers", line: { color: theme.accent, width: 2 }, marker: { color: theme.accent, size: 5 },
    text: played.map((i) => `Round ${whole(rounds.tick[i])}<br>while training: <b>${text(training(), i)}</b>`), hovertemplate: "%{text}<extra></extra>",
  };
  if (reward) return [line];
  const band = {
    x: [...x, ...x.slice().reverse()], y: [...pick("return_most", played), ...pick("return_least", played).reverse()],
    fill: "toself", fillcolor: faded(theme.accent, 0.14), line: { width: 0 }, mode: "lines", hoverinfo: "skip",
  };
  return [band, line];
}

/** @param {Theme} theme @returns {Plotly.Trace} */
function evaluationTrace(theme) {
  const measured = rows(evaluation());
  const value = pick(evaluation(), measured);
  const [low, high] = [pick(evaluation("_low"), measured), pick(evaluation("_high"), measured)];
  /** How far an end is from the value; 0 where no end is known. @param {(number | null)[]} ends @param {number} sign */
  const reach = (ends, sign) => ends.map((end, i) => (end === null ? 0 : sign * (end - (value[i] ?? 0))));
  return {
    x: pick("steps", measured), y: value, mode: "markers", cliponaxis: false,
    marker: { symbol: "circle", size: 10, color: theme.ink, line: { width: 1.5, color: theme.surface } },
    error_y: { type: "data", symmetric: false, array: reach(high, 1), arrayminus: reach(low, -1), color: theme.ink, thickness: 1.4, width: 4 },
    text: measured.map((row, i) => `Evaluation after round ${whole(rounds.tick[row])}<br><b>${text(evaluation(), row)}</b>${low[i] === null ? "" : ` (${text(evaluation("_low"), row)} to ${text(evaluation("_high"), row)})`}`), hovertemplate: "%{text}<extra></extra>",
  };
}

function legend() {
  /** @param {string} css @param {string} words */
  const entry = (css, words) => make("span", { class: "with-mark" }, make("span", { class: css }), words);
  const entries = [entry("legend-line legend-now", "Episodes while training, mean of a round")];
  if (!reward) entries.push(entry("train-spread", "from the worst to the best"));
  const open = rows(evaluation()).some((i) => column(evaluation("_low"))[i] === null);
  const why = open ? "; none where too few episodes, or too many alike ones, leave it open" : "";
  entries.push(entry("train-evaluation", `Evaluation on fresh seeds, its range${why}`));
  at("legend").replaceChildren(...entries);
}

/** A number of a round in words; "" where it is not known. @param {string} name @param {number} i */
function text(name, i) {
  const value = column(name)[i];
  return value === null ? "" : shown(value);
}

/** @param {string} words */
const cell = (words) => make("td", {}, words);

function table() {
  const heads = ["Round", "Decisions", "While training", "Evaluation", "Its range"];
  at("table-head").replaceChildren(make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words))));
  at("table-body").replaceChildren(
    ...rounds.tick.map((tick, i) => {
      const isOpen = column(evaluation("_low"))[i] === null;
      const range = isOpen ? (text(evaluation(), i) && "left open") : `${text(evaluation("_low"), i)} to ${text(evaluation("_high"), i)}`;
      return make("tr", {}, ...[whole(tick), whole(rounds.steps[i]), text(training(), i), text(evaluation(), i), range].map(cell));
    }).reverse(),
  );
  const wrap = closest(at("table-body"), ".table-wrap");
  if (wrap && wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0; // later rows may be wider than those that frame.js saw
}

const NOT_REWARDS = new Set(["return_least", "return_most"]);
/** A switch between the rewards where there are several. */
function rewards() {
  const names = numberNames().filter((name) => name.startsWith("return_") && !NOT_REWARDS.has(name)).map((name) => name.slice(7));
  const place = at("rewards");
  place.hidden = names.length < 2;
  if (place.hidden || place.children.length === names.length + 1) return;
  place.replaceChildren(
    ...["", ...names].map((name) => {
      const button = make("button", { type: "button" }, name ? name.replaceAll("_", " ") : "All together");
      button.setAttribute("aria-pressed", String(name === reward));
      button.addEventListener("click", () => {
        reward = name;
        for (const other of place.children) other.setAttribute("aria-pressed", String(other === button));
        drawCurve();
      });
      return button;
    }),
  );
}

const HIDDEN = /^(tick|steps|seconds|return(_.*)?|evaluation_.*|score|win)$/;
/** @param {string} name */
const title = (name) => page.words[name] ?? name.replaceAll("_", " ");
/** @param {number} value */
const exact = (value) => (value !== 0 && Math.abs(value) < 0.01 ? value.toPrecision(2).replaceAll("-", "−") : decimals(value, Number.isInteger(value) ? 0 : 3));

/** What the learner tells: one number as a line, all of them in their last values.
 * @param {Plotly.Library} Plotly @param {Theme} theme */
async function drawMetrics(Plotly, theme) {
  const lasts = new Map(numberNames().filter((name) => !HIDDEN.test(name)).flatMap((name) => {
    const found = latest(name);
    return found ? [[name, found]] : [];
  }));
  const names = [...lasts.keys()];
  const choice = at("metric", HTMLSelectElement);
  if (choice.options.length !== names.length) {
    const before = choice.value;
    choice.replaceChildren(...names.map((name) => new Option(title(name), name, name === before, name === before)));
  }
  at("latest").replaceChildren(
    ...Array.from(lasts, ([name, [value]]) => make("div", {}, make("dt", {}, title(name)), make("dd", {}, exact(value)))),
  );
  const name = choice.value;
  const last = lasts.get(name);
  if (!last || !at("details", HTMLDetailsElement).open) return;
  const said = rows(name);
  const plan = layout(theme, { x: "Decisions learned from → later", y: "" }, true);
  plan.margin = { ...plan.margin, l: 50 };
  at("metric-now").textContent = `${title(name)}: ${exact(last[0])} in round ${whole(rounds.tick[last[1]])}`;
  await Plotly.react(at("metric-chart"), [{ x: pick("steps", said), y: pick(name, said), mode: said.length > 1 ? "lines" : "markers", line: { color: theme.accent, width: 2 }, hovertemplate: "%{y:.4g}<extra></extra>" }], plan, CONFIG);
}
at("metric").addEventListener("change", () => drawCurve());
at("details").addEventListener("toggle", () => drawCurve());

export async function drawCurve() {
  const chart = at("curve");
  chart.hidden = !state.tick || !rounds.tick.length;
  at("curve-empty").hidden = !chart.hidden;
  if (chart.hidden) {
    at("curve-empty").textContent = ended() ? "Nothing was learned: the job ended before its first round was complete." : "The first round is not complete yet. The curve grows with every round.";
    return;
  }
  policies(() => {
    showFigures();
    drawCurve();
  });
  rewards();
  legend();
  table();
  const Plotly = await plotly();
  const theme = tokens();
  const titles = { x: "Decisions learned from → later", y: `${reward ? `Return, ${reward.replaceAll("_", " ")}` : "Return of an episode"} → plays better` };
  await Plotly.react(chart, [...trainingTraces(theme), evaluationTrace(theme)], layout(theme, titles, chart.clientWidth < NARROW), CONFIG);
  await drawMetrics(Plotly, theme);
}
