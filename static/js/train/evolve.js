// The live page of a search for training settings: its figures, one chart at a time with its table, and the best players.
import { decimals, whole } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { faded, tokens } from "../charts/theme.js";
import { drawBest, drawGrid, drawLineage } from "../job/course_charts.js";
import { placeBeam, placeTimes, showState, sparkline, WISHED } from "../job/head.js";
import { follow } from "../job/live.js";
import { speedNow, speeds, timeLeft } from "../job/pace.js";
import { axisOf, CONFIG, layoutOf } from "../job/parts.js";
import { at, done, ended, links, page, rounds, state } from "../job/state.js";

const { playersLink } = at("job").dataset;
let told = "best";
let goal = page.goals[0].name;

const element = (name, props = {}, ...children) => {
  const made = Object.assign(document.createElement(name), props);
  made.append(...children);
  return made;
};
const digits = (value) => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
const shown = (value) => (value === null || value === undefined ? "–" : decimals(value, digits(value)));
const setting = (value) => (value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1).replace("-", "−") : String(Number(value.toPrecision(3))));
const titled = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
const column = (name) => rounds[name] ?? rounds.tick.map(() => null);
const last = (name) => column(name).findLast((value) => value !== null) ?? null;

function fill(head, body, heads, rows) {
  at(head).replaceChildren(element("tr", {}, ...heads.map((text) => element("th", { textContent: text, scope: "col" }))));
  at(body).replaceChildren(...rows.map((row) => element("tr", {}, ...row.map((text) => element("td", { textContent: text })))));
}

/* ---------- figures ---------- */
function busy() {
  if (WISHED[state.wish]) return WISHED[state.wish];
  if (!page.moving) return state.tick ? "starting its workers again" : "getting ready";
  return "players learn and are measured";
}

function figures() {
  showState("Round", busy());
  const share = done();
  placeBeam(share, `${Math.floor(100 * share)}\u00a0%`);
  placeTimes(state.status === "running" && !state.wish && page.moving ? timeLeft(rounds, state.ticks) : null);
  const { steps = 0, seconds = 0, evaluations = 0 } = state.counters;
  const pace = (state.status === "running" ? speedNow(rounds.seconds, rounds.steps) : null) ?? (seconds > 0 && steps ? steps / seconds : null);
  at("speed").textContent = pace ? whole(Math.round(pace)) : "–";
  sparkline(speeds(rounds.seconds, rounds.steps));
  at("players").textContent = whole(evaluations);
  const first = page.goals[0].name;
  at("best-name").textContent = `Best player, ${first}`;
  at("best").textContent = shown(last(`best_${first}`));
  at("best-note").textContent = last(`best_${first}_low`) === null ? "" : `95\u00a0% range ${shown(last(`best_${first}_low`))} to ${shown(last(`best_${first}_high`))}`;
  at("typical").textContent = shown(last(`mean_${first}`));
  const own = at("own");
  if (own) {
    const value = last(own.dataset.own);
    own.textContent = value === null ? "–" : own.dataset.own === "coverage" ? `${decimals(100 * value, 0)}\u00a0%` : whole(value);
  }
}

/* ---------- charts, each with its note, legend, table and drawing ---------- */
const read = async (link) => {
  const answer = await fetch(link, { cache: "no-store" }).catch(() => null);
  return answer?.ok ? answer.json() : null;
};
const mark = (css, text) => element("span", { className: "with-mark" }, element("span", { className: css }), text);
const yAxis = (theme, title, narrow) => ({ ...axisOf({ title, unit: "", toward: "", direction: "max" }, theme, narrow) });

/** Where a value stands between the ends of its range, in [0, 1]. */
const place = ({ low, high, log }, value) => (log ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : (value - low) / (high - low));

async function drawSettings(chart, { genes, players }, theme) {
  const values = players.map((p) => p.goals[0]);
  const ends = { low: Math.min(...values), high: Math.max(...values) };
  const span = ends.high > ends.low ? ends : { low: ends.low, high: ends.low + 1 };
  const axes = [...genes, { ...span, log: false, title: titled(page.goals[0].name), range: `${shown(ends.low)} to ${shown(ends.high)}` }];
  const line = (p) => [...p.genes, p.goals[0]].map((v, i) => place(axes[i], v));
  const lines = (all) => ({ x: all.flatMap(() => [...axes.map((_, i) => i), null]), y: all.flatMap((p) => [...line(p), null]), mode: "lines+markers", hoverinfo: "skip" });
  const layout = layoutOf(theme, { l: 40, r: 24, t: 8, b: chart.clientWidth < 560 ? 88 : 56 });
  const narrow = chart.clientWidth < 560;
  const text = axes.map((axis) => `${narrow ? axis.title.replaceAll(" ", "<br>") : axis.title}<br>${narrow ? "" : axis.range}`);
  layout.xaxis = { ...yAxis(theme, "", narrow), range: [-0.35, axes.length - 0.65], tickvals: axes.map((_, i) => i), ticktext: text, showgrid: true };
  layout.yaxis = { ...yAxis(theme, "", true), range: [-0.05, 1.05], tickvals: [0, 1], ticktext: ["low", "high"], showgrid: false };
  const traces = [
    { ...lines(players), line: { color: faded(theme["context-mark"], 0.7), width: 1.2 }, marker: { size: 4, color: theme["context-mark"] } },
    { ...lines(players.slice(0, 1)), line: { color: theme.accent, width: 2.6 }, marker: { size: 7, color: theme.accent } },
  ];
  const Plotly = await plotly();
  await Plotly.react(chart, traces, layout, CONFIG);
}

const CHARTS = {
  best: {
    read: async () => ({ tick: rounds.tick, best: column(`best_${goal}`), best_low: column(`best_${goal}_low`), best_high: column(`best_${goal}_high`), median: column(`mean_${goal}`) }),
    note: () => "The best player of each round with its 95\u00a0% range, by the episodes that chose it, and the mean of the round’s players.",
    legend: () => [mark("legend-line legend-now", "Best, 95\u00a0% range"), mark("legend-line legend-typical", "Dotted: mean of the round")],
    heads: () => ["Round", "Best", "from", "to", "Mean of the round"],
    rows: (c) => c.tick.map((tick, i) => [whole(tick), ...["best", "best_low", "best_high", "median"].map((name) => shown(c[name][i]))]),
    empty: (c) => !c.tick.length,
    draw: (chart, c, theme) => drawBest(chart, { ...c, low: c.median, high: c.median }, { title: titled(goal), unit: "", toward: "better", direction: page.goals.find((g) => g.name === goal).direction, line: null, typical: "mean" }, theme),
  },
  settings: {
    read: () => read(playersLink),
    note: (p) => `Each line is a player of round ${whole(p.tick)}: its settings from the low to the high end of their ranges, and what it reached. The strong line is the best of the round.`,
    legend: () => [mark("legend-line legend-now", "The best of the round"), mark("legend-line legend-typical", "The others")],
    heads: (p) => ["Player", ...p.genes.map((gene) => gene.title), ...page.goals.map(({ name }) => titled(name))],
    rows: (p) => p.players.map((one) => [`#${one.id}`, ...one.genes.map(setting), ...one.goals.map(shown)]),
    empty: (p) => !p.players.length,
    draw: drawSettings,
  },
  grid: {
    read: () => read(`${links.grid}?tick=${state.tick}`),
    note: (g) => `Each cell is a kind of play; its colour is the best ${g.quality.title.toLowerCase()} of that kind. ${whole(g.cells[0].length)} cells are filled.`,
    legend: () => [],
    heads: (g) => [...g.axes.map((axis) => axis.title), g.quality.title, "Player"],
    rows: (g) => g.cells[0].map((_, i) => [...g.axes.map((axis, k) => `${shown(axis.edges[g.cells[k][i]])} to ${shown(axis.edges[g.cells[k][i] + 1])}`), shown(g.cells[2][i]), `#${g.cells[3][i]}`]),
    empty: (g) => !g.cells[0].length,
    draw: drawGrid,
  },
  lineage: {
    read: () => read(`${links.lineage}?tick=${state.tick}`),
    note: (l) => `A line is a player, round by round. A slanted line is a copy: a player that lagged went on from a better one’s network and settings. ${whole(l.copied.filter((c) => c >= 0).length)} copies so far.`,
    legend: () => [],
    heads: () => ["Round", "Player", "Copied"],
    rows: (l) => l.member.map((m, i) => [l.step[i] + 1, m + 1, l.copied[i]]).filter(([, , c]) => c >= 0).map(([step, m, c]) => [whole(step), whole(m), `player ${whole(c + 1)}`]),
    empty: (l) => !l.member.length,
    draw: (chart, l, theme) => drawLineage(chart, l, theme, { step: "Round", member: "Player" }),
  },
};

async function drawChart() {
  const [chart, mine] = [CHARTS[told], told];
  const data = state.tick ? await chart.read() : null;
  if (mine !== told) return;
  const nothing = !data || chart.empty(data);
  at("chart").hidden = nothing;
  at("empty").hidden = !nothing;
  if (nothing) at("empty").textContent = ended() ? "The search ended before its first round was complete." : "The first round is not complete yet.";
  at("note").textContent = nothing ? "" : chart.note(data);
  at("legend").replaceChildren(...(nothing ? [] : chart.legend(data)));
  at("goal-box").hidden = nothing || told !== "best" || page.goals.length < 2;
  if (nothing) return;
  fill("head", "body", chart.heads(data), chart.rows(data));
  await chart.draw(at("chart"), data, tokens());
}

async function drawPlayers() {
  const found = state.tick ? await read(playersLink) : null;
  at("best-card").hidden = !found?.best.length;
  if (!found?.best.length) return;
  at("best-about").textContent = found.fresh ? "Measured again on episodes the search never saw; ± is half of the 95\u00a0% range." : "By the episodes that chose them, so a little lucky; measured again at the end.";
  const worth = (one) => one.goals.map((value, i) => `${shown(value)}${one.half[i] === null ? "" : ` ± ${shown(one.half[i])}`}`);
  fill("best-head", "best-body", ["Player", ...page.goals.map(({ name }) => titled(name)), ...found.genes.map((gene) => gene.title)], found.best.map((one) => [`#${one.id}`, ...worth(one), ...one.genes.map(setting)]));
  at("take").hidden = !found.policy;
}

document.querySelector(".segments").addEventListener("click", ({ target }) => {
  const button = target.closest("[data-tell]");
  if (!button || button.dataset.tell === told) return;
  told = button.dataset.tell;
  for (const each of document.querySelectorAll("[data-tell]")) each.setAttribute("aria-pressed", String(each === button));
  drawChart();
});
at("goal").append(...page.goals.map(({ name }) => new Option(titled(name), name)));
at("goal").addEventListener("change", ({ target }) => {
  goal = target.value;
  drawChart();
});

follow({ figures, pictures: () => Promise.all([drawChart(), drawPlayers()]) });
