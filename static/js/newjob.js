// The New job page. Whatever changes is sent to the server, which keeps it as a draft and answers with everything the
// page shows: what is wrong at which field, where the line falls among random lineups, battles and minutes.
import { awaited } from "./awaited.js";
import { decimals, withUnit } from "./charts/format.js";
import { axisTitle } from "./job/parts.js";
import { plotly } from "./charts/plotly.js";
import { faded, tokens } from "./charts/theme.js";
import { listen } from "./events.js";
import { showErrors } from "./field_errors.js";
import { when } from "./time.js";
import { offer, showMethod } from "./newjob/method.js";
import { toast } from "./toast.js";

const form = document.querySelector("[data-new-job]");
const at = (name, root = document) => root.querySelector(`[data-${name}]`);
const field = (name) => form.elements[name];
const WAIT_MS = 350;
const measure = field("measure");
const chosen = { measure: form.dataset.measure, byHand: Boolean(form.dataset.measure) };
const start = awaited(form, "new-job-waits");
let sampleJob = null;
let last = null;
let number = 0;

/* ---------- asking ---------- */
function filled(extra) {
  const data = new FormData(form);
  data.set("measure", chosen.byHand ? chosen.measure : "");
  for (const [name, value] of Object.entries(extra)) data.set(name, value);
  return data;
}

async function ask(extra = {}) {
  const mine = (number += 1);
  document.querySelector(".before").classList.add("unsettled");
  const answer = await fetch(form.dataset.preview, { method: "POST", body: filled(extra) }).catch(() => null);
  if (mine !== number) return;
  document.querySelector(".before").classList.remove("unsettled");
  if (!answer?.ok) {
    const gone = answer && [401, 403, 404].includes(answer.status);
    toast(gone ? "Sign in again to go on; what you typed is kept up to the last change." : "The site does not answer. What you typed is still here.", { problem: true });
    return;
  }
  last = await answer.json();
  show(last);
}

let due = 0;
function changed() {
  clearTimeout(due);
  due = setTimeout(() => {
    due = 0;
    ask({ keep: 1 });
  }, WAIT_MS);
}

/* ---------- showing ---------- */
function showMeasures(answer) {
  const wanted = chosen.byHand ? chosen.measure : (answer.fill?.measure ?? answer.measures[0].name);
  measure.replaceChildren(...answer.measures.map((m) => new Option(m.title, m.name, m.name === wanted, m.name === wanted)));
  if (answer.fill) {
    field("line").value = answer.fill.line;
    Object.assign(chosen, { measure: answer.fill.measure, byHand: true });
  } else if (!chosen.byHand) {
    field("line").value = "";
  }
  at("unit").textContent = answer.unit;
  at("at-least").textContent = answer.direction === "max" ? "is at least" : "is at most";
}

function showSample(sample) {
  const grows = sample.state === "playing";
  sampleJob = grows ? sample.job : null;
  const drawn = Boolean(sample.chart);
  at("sample-text").textContent = drawn ? sample.text : "";
  at("chart-empty").hidden = drawn;
  at("chart").hidden = !drawn;
  at("again").hidden = sample.state !== "failed";
  at("chart-words").textContent = drawn ? "" : sample.text || "Random lineups of your game show where the line falls.";
  const advice = at("advice");
  advice.hidden = !drawn;
  at("cap").hidden = !drawn || !sample.cap;
  at("strong").hidden = !drawn || !sample.strong;
  if (!drawn) return;
  const { level, head, text, better } = sample.advice;
  advice.className = `advice${["good", "few"].includes(level) ? "" : " advice-unsure"}`;
  advice.querySelector("b").textContent = head;
  advice.querySelector("span").textContent = [text, sample.failed].filter(Boolean).join(" ");
  const button = at("better");
  button.hidden = better === null;
  button.dataset.value = better ?? "";
  button.textContent = better === null ? "" : `Take ${withUnit(better, { unit: sample.chart.unit, digits: unitDigits(better, sample.chart.unit) })}`;
  at("cap").textContent = sample.cap;
  at("strong").textContent = sample.strong;
  draw(sample.chart);
}

const unitDigits = (value, unit) => Math.max(unit === "×" ? 1 : 0, digits(value));
const digits = (value) => (Number.isInteger(value) ? 0 : Math.abs(value) < 10 ? (Math.abs(value * 10 - Math.round(value * 10)) < 1e-9 ? 1 : 2) : 0);

function showEstimates({ efforts, before }) {
  document.querySelector('[data-effort="own"]').hidden = !efforts.own;
  for (const [key, { time, text }] of Object.entries(efforts)) {
    document.querySelector(`[data-time-of="${key}"]`).textContent = time;
    document.querySelector(`[data-text-of="${key}"]`).textContent = text;
  }
  at("time").textContent = before.time;
  at("range").textContent = before.range;
  at("long").hidden = !before.long;
  at("long").textContent = before.long;
  at("rows").replaceChildren(
    ...before.rows.map(([name, value]) => {
      const row = document.createElement("div");
      row.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
      return row;
    }),
  );
  for (const [name, value] of Object.entries(before.plan)) field(name).placeholder = value;
}

function showKept(kept) {
  if (!kept) return;
  at("kept").hidden = false;
  at("kept-at").textContent = when(new Date(kept));
  document.querySelector("[data-forget]").hidden = false;
}

function show(answer) {
  const wrong = Object.keys(answer.errors).length > 0;
  if (wrong) start.forget();
  showErrors(form, answer.errors, start.waits);
  showKept(answer.kept);
  if (!answer.measures) return;
  at("counts").textContent = answer.counts;
  at("own").hidden = form.elements.question.value !== "own";
  showMeasures(answer);
  offer(form, "objectives", answer.objectives);
  showSample(answer.sample);
  showEstimates(answer);
  if (sampleJob === null) start.found();
}

/* ---------- the histogram ---------- */
let drawn = null;
// The card is as high as the words beside the chart, and those change.
new ResizeObserver(() => drawn && !at("chart").hidden && drawn.Plots.resize(at("chart"))).observe(at("chart"));

async function draw(chart) {
  const Plotly = await plotly();
  const theme = tokens();
  const { edges, counts, line, cap } = chart;
  const middle = edges.slice(0, -1).map((edge, i) => (edge + edges[i + 1]) / 2);
  const over = middle.map((value) => line !== null && (chart.direction === "max" ? value > line : value < line));
  const bars = (isOver, marker) => ({
    type: "bar",
    x: middle.filter((_, i) => over[i] === isOver),
    y: counts.filter((_, i) => over[i] === isOver),
    width: (edges[1] - edges[0]) * 0.92,
    marker,
    hovertemplate: "%{y} lineups<extra></extra>",
  });
  const traces = [
    bars(false, { color: theme["context-mark"] }),
    bars(true, { color: theme.over, pattern: { shape: "/", bgcolor: theme.over, fgcolor: faded(theme.surface, 0.55), size: 7, solidity: 0.18 } }),
  ];
  const axis = { tickfont: { size: 12, color: theme.muted }, gridcolor: theme.grid, linecolor: theme["control-edge"], showline: true, zeroline: false, fixedrange: true, ticks: "outside", ticklen: 4, tickcolor: theme["control-edge"] };
  const title = (text) => ({ text, font: { size: 12, color: theme.ink }, standoff: 8 });
  const from = Math.min(edges[0], line ?? edges[0]);
  const to = Math.max(edges.at(-1), line ?? edges[0], cap !== null && cap <= edges.at(-1) + (edges[1] - edges[0]) ? cap : -Infinity);
  const room = (to - from) * 0.02;
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, size: 12, color: theme.muted },
    margin: { l: 48, r: 12, t: 8, b: 46 }, bargap: 0, showlegend: false, dragmode: false, shapes: [], annotations: [],
    hoverlabel: { bgcolor: theme.surface, bordercolor: theme["control-edge"], font: { family: theme.font, size: 13, color: theme.ink } },
    xaxis: { ...axis, range: [from - room, to + room], title: title(axisTitle(chart)) },
    yaxis: { ...axis, title: title("Random lineups"), rangemode: "tozero", ...(Math.max(...counts) < 6 ? { dtick: 1 } : { nticks: 6 }) },
  };
  const upright = (value, dash, width) => layout.shapes.push({ type: "line", x0: value, x1: value, yref: "paper", y0: 0, y1: 1, line: { color: theme.ink, width, dash } });
  const note = (x, y, text, anchor, shift) => layout.annotations.push({ x, y, yref: "paper", text, showarrow: false, xanchor: anchor, yanchor: "top", xshift: shift, align: anchor, font: { size: 12, color: theme.ink }, bgcolor: faded(theme.surface, 0.8) });
  if (line !== null) {
    layout.shapes.push({ type: "rect", layer: "below", yref: "paper", y0: 0, y1: 1, x0: chart.direction === "max" ? line : from - room, x1: chart.direction === "max" ? to + room : line, line: { width: 0 }, fillcolor: faded(theme.over, theme.tint) });
    upright(line, "5px,4px", 1.4);
    const late = (line - from) / (to - from || 1) > 0.6;
    const label = `<b>The line: ${withUnit(line, { unit: chart.unit, digits: unitDigits(line, chart.unit) })}</b><br>${chart.over} of ${chart.count} are over it`;
    note(line, 1, label, late ? "right" : "left", late ? -6 : 6);
  }
  if (cap !== null && cap <= to && cap >= from && cap !== line) {
    upright(cap, "1.5px,3px", 1);
    note(cap, 0.8, `cap ${withUnit(cap, { unit: chart.unit, digits: unitDigits(cap, chart.unit) })}`, "right", -6);
  }
  await Plotly.react(at("chart"), traces, layout, { displayModeBar: false, responsive: true });
  drawn = Plotly;
  at("chart").setAttribute("role", "img");
  at("chart").setAttribute("aria-label", `Histogram of ${decimals(chart.count, 0)} random lineups by ${chart.title.toLowerCase()}. ${chart.over ?? 0} are over the line.`);
}
document.addEventListener("equipoise:theme", () => last?.sample?.chart && draw(last.sample.chart));

/* ---------- what people do ---------- */
const NUMBERS = ["population", "rounds", "replicates"];
const effort = (key) => document.querySelector(`[name="effort"][value="${key}"]`);

/** An effort chooses its numbers; a number of one's own is an effort of one's own, begun from the one that was chosen. */
function keepInStep(target) {
  if (target.name === "effort" && target.value !== "own") for (const name of NUMBERS) field(name).value = "";
  if (!NUMBERS.includes(target.name)) return;
  if (!effort("own").checked && target.value) {
    for (const name of NUMBERS) if (!field(name).value) field(name).value = field(name).placeholder;
    effort("own").checked = true;
  }
  if (NUMBERS.every((name) => !field(name).value)) effort("usual").checked = true;
}

form.addEventListener("input", (event) => {
  start.forget();
  if (event.target.name === "question" || event.target.name === "objectives") {
    Object.assign(chosen, { measure: "", byHand: false });
    at("own").hidden = form.elements.question.value !== "own";
  }
  keepInStep(event.target);
  if (event.target.name === "algorithm") showMethod(form);
  if (event.target === measure) Object.assign(chosen, { measure: measure.value, byHand: true });
  if (event.target.name === "line" && !chosen.byHand) Object.assign(chosen, { measure: measure.value, byHand: true });
  changed();
});
at("better").addEventListener("click", (event) => {
  field("line").value = event.currentTarget.dataset.value;
  Object.assign(chosen, { measure: measure.value, byHand: true });
  changed();
});
at("again").addEventListener("click", () => ask({ again: 1 }));
form.addEventListener("submit", () => {
  clearTimeout(due);
  due = 0;
  measure.disabled = true; // what was chosen goes along instead: nothing, while the page still proposes a measure
  const hidden = Object.assign(document.createElement("input"), { type: "hidden", name: "measure", value: chosen.byHand ? chosen.measure : "" });
  form.append(hidden);
  at("start").setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  measure.disabled = false;
  at("start").removeAttribute("aria-busy");
});
window.addEventListener("pagehide", () => {
  if (due) navigator.sendBeacon(form.dataset.preview, filled({ keep: 1 }));
});

const GROWN_MS = 2500;
let askedAt = Date.now(); // a quick sample is over before this much time has gone by
/** The sample has more lineups than the page shows. */
function grown() {
  if (due || Date.now() - askedAt < GROWN_MS) return;
  askedAt = Date.now();
  ask();
}
listen(form.dataset.events, ({ type, data }) => {
  const ended = (status) => ["finished", "stopped", "failed"].includes(status);
  if (sampleJob === null) return;
  if (type === "event" && data.job === sampleJob && (ended(data.status) || data.status === "waiting")) ask();
  else if (type === "event" && data.job === sampleJob && data.kind === "progressed") grown();
  if (type === "snapshot" && data.jobs.some((job) => job.job === sampleJob && ended(job.status))) ask();
});

const refused = document.getElementById("new-job-errors");
showErrors(form, {}, start.waits);
ask().then(() => refused && showErrors(form, JSON.parse(refused.textContent)));
