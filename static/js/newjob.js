// The New job page. Whatever changes is sent to the server, which keeps it as a draft and answers with everything the
// page shows: what is wrong at which field, where the line falls among random lineups, battles and minutes.
import { axisTitle, decimals, lineText } from "./charts/format.js";
import { plotly } from "./charts/plotly.js";
import { faded, tokens } from "./charts/theme.js";
import { embedded, field as fieldOf, find, findOptional, make, valueOf } from "./elements.js";
import { listen } from "./events.js";
import { showErrors } from "./field_errors.js";
import { when } from "./time.js";
import { Lines } from "./newjob/lines.js";
import { offer, showMethod } from "./newjob/method.js";
import { startsFrom } from "./starting.js";
import { toast } from "./toast.js";
/** @import { Layout } from "./job/parts.js" */
/** @import { Line } from "./newjob/lines.js" */

/** Lineups by what they measure: counts between the edges; `span`: the ends of the axis; `over`: how many are over the line;
 * `whole`: of all lineups, not of a sample.
 * @typedef {{ title: string, unit: string, toward: string, direction: string, edges: number[], counts: number[], count: number,
 *   line: number | null, cap: number | null, over: number, span?: [number, number], whole: boolean }} Chart */
/** What lineups that were played say of the line; `better`: a line that would tell more.
 * @typedef {{ state: string, job: number, text: string, cap: string, strong: string, failed: string, chart: Chart | null,
 *   advice: { level: string, head: string, text: string, better: number | null, from: string | null } }} Sample */
/** How long each effort takes, and the one that is chosen.
 * @typedef {{ efforts: Record<string, { time: string, text: string }>,
 *   before: { time: string, range: string, long: string, rows: [string, string | [string, string][]][], plan: Record<string, string> } }} Estimates */
/** @typedef {{ name: string, title: string }} Choice */
/** What the server says of the form; without measures it could not read enough of it.
 * @typedef {Estimates & { errors: Record<string, string[]>, kept?: string, counts: string, measures?: Choice[], objectives: Choice[],
 *   fill: { measure: string, line: string, line_from: string } | null, over: string, unit: string, direction: string,
 *   experiment: { possible: boolean, wanted: boolean, text: string, battles: string }, sample: Sample }} Answer */

const form = find(document, "[data-new-job]", HTMLFormElement);
const { preview = "", events = "" } = form.dataset;
const panel = find(document, ".before");
/** @param {string} name */
const at = (name) => find(document, `[data-${name}]`);
/** @param {string} name */
const field = (name) => fieldOf(form, name);
const own = () => valueOf(form, "question") === "own";
const WAIT_MS = 350;
const measure = fieldOf(form, "measure", HTMLSelectElement);
const forget = find(document, "[data-forget]");
const chosen = { measure: form.dataset.measure ?? "", byHand: Boolean(form.dataset.measure) };
const lines = new Lines();
/** @type {Record<string, string>} */
const ORIGINS = embedded("line-words");
const PROPOSED = ["proposed", "all", "nearest", "nearest-all", "usual"];
const ANEW = "anew"; // asks for a line from random lineups, whatever was accepted before
/** @type {number | null} */
let sampleJob = null;
/** @type {Answer | null} */
let last = null;
let number = 0;

/* ---------- the line of a question, and whose it is ---------- */
/** What lines are remembered by: the question, and of one's own the objectives too. */
const asked = () => (own() ? `own:${valueOf(form, "objectives")}` : valueOf(form, "question"));
let question = asked();

function keepLine() {
  if (chosen.byHand) lines.keep(question, { measure: chosen.measure, line: field("line").value, from: field("line_from").value });
}

/** @param {Line} kept @param {boolean} [byHand] */
function setLine({ measure: name, line, from }, byHand = true) {
  Object.assign(chosen, { measure: name, byHand });
  field("line").value = line;
  field("line_from").value = from;
}

function sayOrigin() {
  const [from, job] = field("line_from").value.split(":");
  const words = field("line").value.trim() ? ORIGINS[from] : "";
  at("line-from").textContent = (words ?? "").replace("{job}", job);
  at("line-origin").hidden = !words;
  at("anew").hidden = PROPOSED.includes(from);
}

/** Another question, or another one's own objectives: its line as it was here, or the one that the site proposes. */
function askedAnother() {
  question = asked();
  setLine(lines.of(question) ?? { measure: "", line: "", from: "" }, Boolean(lines.of(question)));
}

/** Another measure: a line of the one before means nothing on it.
 * @param {string} name */
function measuredBy(name) {
  setLine(lines.of(question, name) ?? { measure: name, line: "", from: "" });
}

/* ---------- asking ---------- */
/** @param {Record<string, number>} [extra] */
function filled(extra = {}) {
  const data = new FormData(form);
  data.set("measure", chosen.byHand ? chosen.measure : "");
  for (const [name, value] of Object.entries(extra)) data.set(name, String(value));
  return data;
}

/** What the page says of the search does not fit what is chosen now: until the answer has come, it says that instead. Start
 * takes the form as it stands, so a press is never lost. */
function unsettled() {
  panel.classList.add("unsettled");
  at("time").textContent = "Working it out…";
  at("range").textContent = "";
}

/** The answer has come; where no numbers are ``known``, Start says what is wrong.
 * @param {boolean} known */
function settled(known) {
  if (due) return; // something was changed since
  panel.classList.toggle("unsettled", !known);
  if (!known) at("time").textContent = "not known yet";
}

let asking = false;
/** @param {Record<string, number>} [extra] */
async function ask(extra = {}) {
  const line = () => `${asked()} ${chosen.measure} ${field("line").value}`;
  const [mine, about, chosenLine] = [(number += 1), asked(), line()];
  asking = true;
  const answer = await fetch(preview, { method: "POST", body: filled(extra) }).catch(() => null);
  if (mine !== number || about !== asked()) return; // another question is on its way
  asking = false;
  if (!answer?.ok) {
    settled(false);
    const gone = answer && [401, 403, 404].includes(answer.status);
    const wrong = answer?.status === 400 ? (await answer.json()).error : "";
    toast(wrong || (gone ? "Sign in again to go on; what you typed is kept up to the last change." : "The site does not answer. What you typed is still here."), { problem: true });
    return;
  }
  /** @type {Answer} */
  const estimate = await answer.json();
  last = estimate;
  if (line() !== chosenLine) estimate.fill = null; // somebody chose one meanwhile
  settled(Boolean(estimate.measures));
  show(estimate);
}

let due = 0;
function changed() {
  unsettled();
  clearTimeout(due);
  due = setTimeout(() => {
    due = 0;
    ask({ keep: 1 });
  }, WAIT_MS);
}

/* ---------- showing ---------- */
/** @param {Answer} answer @param {Choice[]} measures */
function showMeasures(answer, measures) {
  const wanted = answer.fill?.measure ?? (chosen.byHand ? chosen.measure : measures[0].name);
  measure.replaceChildren(...measures.map((m) => new Option(m.title, m.name, m.name === wanted, m.name === wanted)));
  if (answer.fill) {
    setLine({ measure: answer.fill.measure, line: answer.fill.line, from: answer.fill.line_from });
  } else if (!chosen.byHand) {
    setLine({ measure: "", line: "", from: field("line_from").value === ANEW ? ANEW : "" }, false);
  }
  keepLine();
  sayOrigin();
  at("over").textContent = answer.over;
  at("unit").textContent = answer.unit;
  at("at-least").textContent = answer.direction === "max" ? "is at least" : "is at most";
}

/** @param {Sample} sample */
function showSample(sample) {
  const grows = sample.state === "playing";
  sampleJob = grows ? sample.job : null;
  const chart = sample.chart ?? null;
  const drawn = chart !== null;
  at("sample-text").textContent = drawn ? sample.text : "";
  at("chart-empty").hidden = drawn;
  at("chart").hidden = !drawn;
  at("again").hidden = sample.state !== "failed";
  at("chart-words").textContent = drawn ? "" : sample.text || "Random lineups of your game show where the line falls.";
  const advice = at("advice");
  advice.hidden = !drawn;
  at("cap").hidden = !drawn || !sample.cap;
  at("strong").hidden = !drawn || !sample.strong;
  if (chart === null) return;
  const { level, head, text, better, from } = sample.advice;
  advice.className = `advice${["good", "few"].includes(level) ? "" : " advice-unsure"}`;
  find(advice, "b").textContent = head;
  find(advice, "span").textContent = [text, sample.failed].filter(Boolean).join(" ");
  const button = at("better");
  button.hidden = better === null;
  button.dataset.value = String(better ?? "");
  button.dataset.from = from ?? "";
  button.textContent = better === null ? "" : `Take ${lineText(better, shown(chart))}`;
  at("cap").textContent = sample.cap;
  at("strong").textContent = sample.strong;
  draw(chart);
}

/** How lines and caps are written: with all of their digits.
 * @param {{ unit: string }} chart */
const shown = ({ unit }) => ({ unit, digits: unit === "×" ? 1 : 0 });

/** A name and its value, or the rows that belong under the name.
 * @param {string} name @param {string | [string, string][]} value */
function row(name, value) {
  if (typeof value === "string") return make("div", {}, make("dt", {}, name), make("dd", {}, value));
  const inner = make("dl", { class: "pairs" }, ...value.map(([each, its]) => make("div", {}, make("dt", {}, each), make("dd", {}, its))));
  return make("div", { class: "pairs-group" }, make("dt", {}, name), make("dd", {}, inner));
}

/** @param {Estimates} estimates */
function showEstimates({ efforts, before }) {
  find(document, '[data-effort="own"]').hidden = !efforts.own;
  for (const [key, { time, text }] of Object.entries(efforts)) {
    find(document, `[data-time-of="${key}"]`).textContent = time;
    find(document, `[data-text-of="${key}"]`).textContent = text;
  }
  if (!due) {
    at("time").textContent = before.time;
    at("range").textContent = before.range;
  }
  at("long").hidden = !before.long;
  at("long").textContent = before.long;
  at("rows").replaceChildren(...before.rows.map(([name, value]) => row(name, value)));
  for (const [name, value] of Object.entries(before.plan)) field(name).placeholder = value;
}

const tick = find(document, "[data-experiment-tick]", HTMLInputElement);
/** The experiment beside the search: as the question has it until somebody ticks or unticks it.
 * @param {Answer["experiment"]} experiment */
function showExperiment({ possible, wanted, text, battles }) {
  tick.checked = wanted;
  tick.disabled = !possible;
  at("experiment-text").textContent = text;
  field("experiment_battles").placeholder = battles;
}

/** @param {string} [kept] */
function showKept(kept) {
  if (!kept) return;
  at("kept").hidden = false;
  at("kept-at").textContent = when(new Date(kept));
  forget.hidden = false;
}

/** @param {Answer} answer */
function show(answer) {
  showErrors(form, answer.errors);
  showKept(answer.kept);
  at("about-line").classList.toggle("line-wrong", Boolean(answer.errors.line)); // the rest is of the line before
  if (!answer.measures) return;
  at("counts").textContent = answer.counts;
  at("own").hidden = !own();
  showMeasures(answer, answer.measures);
  offer(form, "objectives", answer.objectives);
  showSample(answer.sample);
  showExperiment(answer.experiment);
  showEstimates(answer);
}

/* ---------- the histogram ---------- */
/** How many lineups are on the side of the line that counts: "10 of 200 are under".
 * @param {Chart} chart */
const reached = ({ over, count, direction }) => `${over} of ${count} ${over === 1 ? "is" : "are"} ${direction === "max" ? "over" : "under"}`;
/** @type {Plotly.Library | null} */
let drawn = null;
// The card is as high as the words beside the chart, and those change.
new ResizeObserver(() => drawn && !at("chart").hidden && drawn.Plots.resize(at("chart"))).observe(at("chart"));

const [NOTE_PX, CAP_PX, AROUND_PX] = [38, 20, 54]; // the words of the line and of the cap, the margins
/** How much higher than its tallest bar the chart is, so that no bar stands behind the words at its top.
 * @param {Chart} chart */
function headroom({ line, cap }) {
  const words = (line === null ? 0 : NOTE_PX) + (cap === null || cap === line ? 0 : CAP_PX);
  const plot = Math.max(2 * words, at("chart").clientHeight - AROUND_PX, 1);
  return plot / Math.max(1, plot - words - 4);
}

/** @param {Chart} chart */
async function draw(chart) {
  const Plotly = await plotly();
  const theme = tokens();
  const { edges, counts, line, cap } = chart;
  const middle = edges.slice(0, -1).map((edge, i) => (edge + edges[i + 1]) / 2);
  const widths = middle.map((_, i) => 0.92 * (edges[i + 1] - edges[i]));
  const over = middle.map((value) => line !== null && (chart.span ? chart.over > 0 : chart.direction === "max" ? value > line : value < line));
  /** @param {boolean} isOver @param {Plotly.Marker} marker @returns {Plotly.Trace} */
  const bars = (isOver, marker) => ({
    type: "bar",
    x: middle.filter((_, i) => over[i] === isOver),
    y: counts.filter((_, i) => over[i] === isOver),
    width: widths.filter((_, i) => over[i] === isOver),
    marker,
    hovertemplate: "%{y} lineups<extra></extra>",
  });
  const traces = [
    bars(false, { color: theme["context-mark"] }),
    bars(true, { color: theme.over, pattern: { shape: "/", bgcolor: theme.over, fgcolor: faded(theme.surface, 0.55), size: 7, solidity: 0.18 } }),
  ];
  const axis = { tickfont: { size: 12, color: theme.muted }, gridcolor: theme.grid, linecolor: theme["control-edge"], showline: true, zeroline: false, fixedrange: true, ticks: "outside", ticklen: 4, tickcolor: theme["control-edge"] };
  const title = (/** @type {string} */ text) => ({ text, font: { size: 12, color: theme.ink }, standoff: 8 });
  const [start, end] = chart.span ?? [edges[0], edges[edges.length - 1]];
  const from = Math.min(start, line ?? start);
  const to = Math.max(end, line ?? start, cap !== null && cap <= end + (edges[1] - edges[0]) ? cap : -Infinity);
  const room = (to - from) * 0.02;
  /** @type {Layout} */
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, size: 12, color: theme.muted },
    margin: { l: 48, r: 12, t: 8, b: 46 }, bargap: 0, showlegend: false, dragmode: false, shapes: [], annotations: [],
    hoverlabel: { bgcolor: theme.surface, bordercolor: theme["control-edge"], font: { family: theme.font, size: 13, color: theme.ink } },
    xaxis: { ...axis, range: [from - room, to + room], title: title(axisTitle(chart)) },
    yaxis: { ...axis, title: title(chart.whole ? "Lineups" : "Random lineups"), range: [0, Math.max(...counts, 1) * headroom(chart)], ...(Math.max(...counts) < 6 ? { dtick: 1 } : { nticks: 6 }) },
  };
  /** @param {number} value @param {string} dash @param {number} width */
  const upright = (value, dash, width) => layout.shapes.push({ type: "line", x0: value, x1: value, yref: "paper", y0: 0, y1: 1, line: { color: theme.ink, width, dash } });
  /** @param {number} x @param {string} text @param {string} anchor @param {number} shift @param {number} [down] */
  const note = (x, text, anchor, shift, down = 0) => layout.annotations.push({ x, y: 1, yref: "paper", text, showarrow: false, xanchor: anchor, yanchor: "top", xshift: shift, yshift: down, align: anchor, font: { size: 12, color: theme.ink }, bgcolor: faded(theme.surface, 0.8) });
  if (line !== null) {
    layout.shapes.push({ type: "rect", layer: "below", yref: "paper", y0: 0, y1: 1, x0: chart.direction === "max" ? line : from - room, x1: chart.direction === "max" ? to + room : line, line: { width: 0 }, fillcolor: faded(theme.over, theme.tint) });
    upright(line, "5px,4px", 1.4);
    const late = (line - from) / (to - from || 1) > 0.6;
    const label = `<b>The line: ${lineText(line, shown(chart))}</b><br>${reached(chart)} it`;
    note(line, label, late ? "right" : "left", late ? -6 : 6);
  }
  if (cap !== null && cap <= to && cap >= from && cap !== line) {
    upright(cap, "1.5px,3px", 1);
    const down = line === null ? 0 : -NOTE_PX; // under the words of the line
    note(cap, `${chart.direction === "max" ? "cap" : "floor"} ${lineText(cap, shown(chart))}`, chart.direction === "max" ? "right" : "left", chart.direction === "max" ? -6 : 6, down);
  }
  await Plotly.react(at("chart"), traces, layout, { displayModeBar: false, responsive: true });
  drawn = Plotly;
  at("chart").setAttribute("role", "img");
  at("chart").setAttribute("aria-label", `Histogram of ${decimals(chart.count, 0)} ${chart.whole ? "lineups" : "random lineups"} by ${chart.title.toLowerCase()}.${line === null ? "" : ` ${reached(chart)} the line.`}`);
}
document.addEventListener("equipoise:theme", () => last?.sample?.chart && draw(last.sample.chart));

/* ---------- what people do ---------- */
const NUMBERS = ["population", "rounds", "replicates"];
/** @param {string} key */
const effort = (key) => find(document, `[name="effort"][value="${key}"]`, HTMLInputElement);

/** An effort chooses its numbers; a number of one's own is an effort of one's own, begun from the one that was chosen.
 * @param {{ name: string, value: string }} target */
function keepInStep(target) {
  if (target.name === "effort" && target.value !== "own") for (const name of NUMBERS) field(name).value = "";
  if (!NUMBERS.includes(target.name)) return;
  if (!effort("own").checked && target.value) {
    for (const name of NUMBERS) if (!field(name).value) field(name).value = field(name).placeholder;
    effort("own").checked = true;
  }
  if (NUMBERS.every((name) => !field(name).value)) effort("usual").checked = true;
}

form.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement)) return;
  if (target.name === "question" || target.name === "objectives") {
    askedAnother();
    at("own").hidden = !own();
  }
  keepInStep(target);
  if (target === tick) field("experiment").value = tick.checked ? "yes" : "no";
  if (target.name === "algorithm") showMethod(form);
  if (target === measure) measuredBy(measure.value);
  if (target.name === "line") setLine({ measure: measure.value, line: field("line").value, from: "typed" });
  keepLine();
  sayOrigin();
  changed();
});
at("better").addEventListener("click", () => {
  setLine({ measure: measure.value, line: at("better").dataset.value ?? "", from: at("better").dataset.from ?? "" });
  keepLine();
  sayOrigin();
  changed();
});
at("anew").addEventListener("click", () => {
  setLine({ measure: "", line: "", from: ANEW }, false);
  sayOrigin();
  field("line").focus();
  changed();
});
at("again").addEventListener("click", () => ask({ again: 1 }));
startsFrom(form, {
  filled, // with the chosen measure: nothing, while the page still proposes one
  before: () => {
    lines.forget(); // the next search begins with the project's line
    clearTimeout(due);
    due = 0;
  },
});
forget.addEventListener("submit", () => lines.forget());
window.addEventListener("pagehide", () => {
  if (due) navigator.sendBeacon(preview, filled({ keep: 1 }));
});

const GROWN_MS = 2500;
let askedAt = Date.now(); // a quick sample is over before this much time has gone by
/** The sample has more lineups than the page shows. */
function grown() {
  if (due || asking || Date.now() - askedAt < GROWN_MS) return; // an answer that is on its way is not overtaken
  askedAt = Date.now();
  ask();
}
listen(events, ({ type, data }) => {
  const ended = (/** @type {string} */ status) => ["finished", "stopped", "failed"].includes(status);
  if (sampleJob === null) return;
  if (type === "event" && data.job === sampleJob && (ended(data.status) || data.status === "waiting")) ask();
  else if (type === "event" && data.job === sampleJob) grown();
  if (type === "snapshot" && data.jobs.some((job) => job.job === sampleJob && ended(job.status))) ask();
});

const refused = findOptional(document, "#new-job-errors", HTMLScriptElement) !== null;
ask().then(() => refused && showErrors(form, embedded("new-job-errors")));
