// The live page of a search for training settings: its figures, one chart at a time with its table, and the best players.
import { decimals, percent, progress, whole } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { tokens } from "../charts/theme.js";
import { closest, find, findAll, make } from "../elements.js";
import { drawFront } from "../job/charts.js";
import { cellText, drawBests, drawGrid, drawLineage, drawVolume, heightOf } from "../job/course_charts.js";
import { edgeAt, edgeRows, roundEntries } from "../job/edge.js";
import { placeBeam, placeTimes, showState, sparkline, COMMANDED } from "../job/head.js";
import { follow } from "../job/live.js";
import { ending } from "../job/ending.js";
import { speeds, speedText } from "../job/pace.js";
import { at, atIfAny, done, ended, links, page, rounds, state } from "../job/state.js";
import { telling } from "../job/telling.js";
import { fillTable } from "../tables.js";
import { drawSettings } from "./settings_chart.js";
/** @import { Grid, Lineage } from "../job/course_charts.js" */
/** @import { Label } from "../job/parts.js" */
/** @import { ChartText } from "../job/telling.js" */
/** @import { Player, Players } from "./settings_chart.js" */

const { playersLink } = at("job").dataset;
let chosen = "best";
/** Which goal is told, and which one across where two are: indexes of the page's goals. */
let goal = 0;
let across = 1;
const aim = () => page.goals[goal];

/** @param {number} value */
const digits = (value) => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
/** @param {number | null | undefined} value */
const shown = (value) => (value === null || value === undefined ? "–" : decimals(value, digits(value)));
/** Values of one column in equally many digits. @param {(number | null)[]} values */
function alike(values) {
  const sizes = values.filter((value) => value !== null).map(Math.abs).sort((a, b) => a - b);
  const all = digits(sizes[sizes.length >> 1] ?? 0);
  return (/** @type {number | null} */ value) => (value === null ? "–" : decimals(value, all));
}
/** @param {number} value */
const setting = (value) => (value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1).replace("-", "−") : String(Number(value.toPrecision(3))));
/** @param {string} name @returns {(number | null)[]} */
const column = (name) => rounds[name] ?? rounds.tick.map(() => null);
/** @param {string} name */
const last = (name) => column(name).findLast((value) => value !== null) ?? null;

/** @param {string} head @param {string} body @param {string[]} heads @param {string[][]} rows */
function fill(head, body, heads, rows) {
  fillTable(at(head), at(body), heads, rows);
}

/* ---------- figures ---------- */
function busy() {
  if (COMMANDED[state.command]) return COMMANDED[state.command];
  if (!page.moving) return state.tick ? "starting its workers again" : "getting ready";
  return "players learn and are measured";
}

/** Of each goal, the player that was furthest in it when the search chose, measured once more on fresh episodes, once there are such.
 * @type {(Player & { half: (number | null)[] })[]} */
let again = [];
/** What the furthest came to in goal `i`, and who it is; the row of the table below it, word for word. @param {number} i */
function furthest(i) {
  const best = again[i];
  return { value: shown(best.goals[i]), note: `player #${best.id}, on fresh episodes${best.half[i] === null ? "" : `: ±\u00a0${shown(best.half[i])}`}` };
}

/** The range of the best of the last round; nothing where it is not known: from a few episodes, or from few different results without known ends.
 * @param {string} name */
function reached(name) {
  const [low, high] = ["low", "high"].map((end) => column(`best_${name}_${end}`).at(-1) ?? null);
  return low === null ? ["picked for it, so part is luck"] : [`95\u00a0% range ${shown(low)} to ${shown(high)}, which allows for its having been picked`];
}
/** The tile of a goal; with one goal a tile of its own tells the typical player.
 * @param {Label & { name: string }} goal @param {number} i */
function showGoal({ name, title, direction }, i) {
  const tile = findAll(document, "[data-best-tile]")[i];
  const part = (/** @type {string} */ what) => find(tile, `[data-best-${what}]`);
  part("name").textContent = `${direction === "max" ? "Highest" : "Lowest"} ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
  part("value").textContent = shown(last(`best_${name}`));
  const typical = shown(last(`mean_${name}`));
  const words = reached(name);
  const mean = atIfAny("typical");
  if (mean) mean.textContent = typical;
  else words.push(`mean ${typical}`);
  if (again.length) {
    const found = furthest(i);
    part("value").textContent = found.value;
    part("note").textContent = mean ? found.note : `${found.note}; mean of the latest round ${typical}`;
    return;
  }
  part("note").textContent = state.tick ? [`round ${whole(state.tick)}`, ...(words.length ? [words.join("; ")] : [])].join(": ") : "";
}

function figures() {
  showState("Round", busy());
  const share = done();
  placeBeam(share, progress(share));
  placeTimes(ending());
  const { steps = 0, seconds = 0, evaluations = 0 } = state.counters;
  const counted = { times: rounds.seconds, counts: rounds.steps, total: steps, seconds, took: state.took };
  const [pace, what] = speedText("decisions of all players", state.status === "running", counted);
  at("speed").textContent = pace ? whole(Math.round(pace)) : "–";
  at("speed-note").textContent = `${what}; decisions of episodes that measure players count too`;
  sparkline(pace ? speeds(rounds.seconds, rounds.steps) : []);
  at("players").textContent = whole(evaluations);
  page.goals.forEach(showGoal);
  const own = atIfAny("own")?.dataset.own;
  const value = own ? last(own) : null;
  if (own === "coverage") showFilled(page.fresh_coverage ?? null);
  else if (own) at("own").textContent = value === null ? "–" : whole(value);
}
/** The filled share of the map, once there is one of the map as fresh episodes have it, which is then the one shown.
 * @param {number | null} fresh */
function showFilled(fresh) {
  const value = fresh ?? last("coverage");
  at("own").textContent = value === null ? "–" : percent(value);
  at("own-note").textContent = `share of the map that is filled${fresh === null ? "" : ", on fresh episodes"}`;
}

/* ---------- charts, each with its note, legend, table and drawing ---------- */
/** @param {string} link */
const read = async (link) => {
  const answer = await fetch(link, { cache: "no-store" }).catch(() => null);
  return answer?.ok ? answer.json() : null;
};
/** @param {string} css @param {string} text */
const mark = (css, text) => make("span", { class: "with-mark" }, make("span", { class: css }), text);
/** The pair of axes of the edge, up and across, and what the server is asked for it. */
function pair() {
  const x = across === goal ? (goal + 1) % page.goals.length : across;
  return { axes: { x: page.axes[x], y: page.axes[goal] }, along: `&x=${x}&y=${goal}` };
}

/** @type {Record<string, () => Promise<ChartText>>} */
const CHARTS = {
  best: telling({
    read: async () => page.goals.map(({ name, title, direction }) => {
      const [median, best] = [column(`mean_${name}`), column(`best_${name}`)];
      const c = { tick: rounds.tick, best, median, low: median, high: median };
      return { c, y: { title, unit: "", toward: "better", direction, line: null, typical: "mean" } };
    }),
    note: () => `The best player of each round${page.goals.length > 1 ? " in each goal" : ""} by the episodes that chose it (so partly luck), and the mean of the round’s players.`,
    legend: () => [mark("legend-line legend-now", "Best"), mark("legend-line legend-typical", "Dotted: mean of the round")],
    heads: (panels) => ["Round", ...panels.flatMap(({ y }) => [`${y.title}: best`, "Mean of the round"])],
    rows: (panels) => {
      const words = panels.map(({ c }) => alike([...c.best, ...c.median]));
      return rounds.tick.map((tick, i) => [whole(tick), ...panels.flatMap(({ c }, k) => [words[k](c.best[i]), words[k](c.median[i])])]);
    },
    empty: () => !rounds.tick.length,
    height: (panels) => (panels.length > 1 ? `${heightOf(panels.length)}px` : ""),
    draw: drawBests,
  }),
  edge: telling({
    read: async () => {
      const { now, ...before } = await edgeAt(links, { tick: state.tick, ticks: state.ticks, fresh: page.fresh, along: pair().along });
      return now ? { now, ...before } : null;
    },
    note: ({ early }) => {
      if (!page.fresh) return "No player found by then is further along both axes than those of the line.";
      const last = "No player that was measured again is further along both axes than those of the line on fresh episodes, which the search never saw.";
      return early.length ? `${last} For the other lines, no player found by then is.` : last;
    },
    legend: ({ early }) => roundEntries(early, page.fresh ? "On fresh episodes" : "Now"),
    heads: () => [pair().axes.y.title, "95 % range", pair().axes.x.title],
    rows: ({ now }) => edgeRows(now, pair().axes, (i) => now.edge[i]).map(({ cells }) => cells),
    empty: ({ now }) => !now.x.length,
    draw: (chart, found) => drawFront(chart, { ...pair().axes, ...found, search: true }),
  }),
  volume: telling({
    read: async () => ({ tick: rounds.tick, volume: column("hypervolume") }),
    note: () => "How much the edge beats, all goals together (hypervolume), in units of the first round. It may also fall, where players are measured again.",
    heads: () => ["Round", "Volume"],
    rows: (c) => c.tick.map((tick, i) => [whole(tick), c.volume[i] === null ? "–" : decimals(c.volume[i], 3)]),
    empty: (c) => !c.tick.length,
    draw: drawVolume,
  }),
  settings: telling({
    /** @returns {Promise<Players | null>} */
    read: () => read(`${playersLink}?tick=${state.tick}`),
    note: (p) => `Each line is a player: its settings from the low to the high end of their ranges, and what it reached; the stronger its colour, the better${page.goals.length > 1 ? ` in ${aim().title.toLowerCase()}` : ""}. The thick line is the best.${p.count > p.players.length ? ` ${whole(p.players.length)} of ${whole(p.count)}, evenly from the best to the worst.` : ""}`,
    legend: () => [mark("legend-line legend-ink", "The best"), mark("legend-line legend-now", "The others, stronger is better")],
    heads: (p) => ["Player", ...p.genes.map((gene) => gene.title), ...page.goals.map(({ title }) => title)],
    rows: (p) => {
      const words = page.goals.map((_, k) => alike(p.players.map(({ goals }) => goals[k])));
      return p.players.map((one) => [`#${one.id}`, ...one.genes.map(setting), ...one.goals.map((value, k) => words[k](value))]);
    },
    empty: (p) => !p.players.length || !p.genes.length,
    draw: (chart, p, theme) => drawSettings(chart, p, { all: page.goals, index: goal }, shown, theme),
  }),
  grid: telling({
    /** @returns {Promise<Grid | null>} */
    read: () => read(`${links.grid}?${page.fresh_map ? "of=fresh" : `tick=${state.tick}`}`),
    note: (g) => `Each cell is a kind of play; its colour is the best ${g.quality.title.toLowerCase()} of that kind. ${whole(g.cells[0].length)} of ${whole(g.bins ** g.axes.length)} cells are filled; those at the ends also hold what lies beyond.${page.fresh_map ? " Measured on episodes the search never saw." : ""}${g.hidden ? " Kinds that differ only in a third number share a cell, so more is filled here than of the whole map." : ""}`,
    heads: (g) => [...g.axes.map((axis) => axis.title), g.quality.title, "Player"],
    rows: (g) => g.cells[0].map((_, i) => [...g.axes.map((axis, k) => cellText(axis, g.cells[k][i])), alike(g.cells[2])(g.cells[2][i]), `#${g.cells[3][i]}`]),
    empty: (g) => !g.cells[0].length,
    draw: drawGrid,
  }),
  lineage: telling({
    /** @returns {Promise<Lineage | null>} */
    read: () => read(`${links.lineage}?tick=${state.tick}`),
    note: (l) => `A line is a player, round by round. A slanted line is a copy: a player that lagged went on from a better one’s network and settings. ${whole(l.copied.filter((c) => c >= 0).length)} copies so far.`,
    heads: () => ["Round", "Player", "Copied"],
    rows: (l) => l.member.map((m, i) => [l.step[i] + 1, m + 1, l.copied[i]]).filter(([, , c]) => c >= 0).map(([step, m, c]) => [whole(step), whole(m), `player ${whole(c + 1)}`]),
    empty: (l) => !l.member.length,
    draw: (chart, l, theme) => drawLineage(chart, l, theme, { step: "Round", member: "Player" }),
  }),
};

async function drawChart() {
  const mine = chosen;
  const found = state.tick ? await CHARTS[mine]() : null;
  if (mine !== chosen) return;
  at("chart").hidden = !found;
  at("empty").hidden = found !== null;
  if (!found) at("empty").textContent = ended() ? "The search ended before its first round was complete." : "The first round is not complete yet.";
  at("note").textContent = found?.note ?? "";
  at("legend").replaceChildren(...(found?.legend ?? []));
  const several = page.goals.length > 1;
  at("goal-box").hidden = !found || !several || !["settings", "edge"].includes(chosen) || (chosen === "edge" && page.goals.length < 3);
  at("goal-label").textContent = chosen === "settings" ? "Coloured by" : "Goal";
  at("across-box").hidden = at("goal-box").hidden || chosen !== "edge";
  if (!found) return;
  fill("head", "body", found.heads, found.rows);
  at("chart").style.height = found.height;
  await found.draw(at("chart"), tokens());
  (await plotly()).Plots.resize(at("chart")); // the chart before may have been of another height
}

async function drawPlayers() {
  /** @type {(Players & { best: (Player & { half: (number | null)[] })[], furthest: (Player & { half: (number | null)[] })[], fresh: boolean, policy: boolean }) | null} */
  const found = state.tick ? await read(`${playersLink}?tick=${state.tick}`) : null;
  at("best-card").hidden = !found?.best.length;
  if (!found?.best.length) return;
  again = found.fresh ? found.furthest : [];
  page.goals.forEach(showGoal);
  at("best-about").textContent = found.fresh ? "Measured again on episodes the search never saw; ± is the longer side of the 95\u00a0% range, where that is known." : "By the episodes that chose them, so a little lucky; measured again at the end.";
  /** @param {Player & { half: (number | null)[] }} one */
  const worth = (one) => one.goals.map((value, i) => `${shown(value)}${one.half[i] === null ? "" : `\u00a0±\u00a0${shown(one.half[i])}`}`);
  fill("best-head", "best-body", ["Player", ...page.goals.map(({ title }) => title), ...found.genes.map((gene) => gene.title)], found.best.map((one) => [`#${one.id}`, ...worth(one), ...one.genes.map(setting)]));
  at("take").hidden = !found.policy;
}

find(document, ".segments").addEventListener("click", ({ target }) => {
  const button = closest(target, "[data-tell]");
  if (!button || button.dataset.tell === chosen) return;
  chosen = button.dataset.tell ?? "";
  for (const each of findAll(document, "[data-tell]")) each.setAttribute("aria-pressed", String(each === button));
  drawChart();
});
const [up, right] = [at("goal", HTMLSelectElement), at("across", HTMLSelectElement)];
for (const [menu, chosen] of /** @type {const} */ ([[up, goal], [right, across]])) {
  menu.append(...page.goals.map(({ title }, i) => new Option(title, String(i), i === chosen, i === chosen)));
  menu.addEventListener("change", () => {
    [goal, across] = [Number(up.value), Number(right.value)];
    drawChart();
  });
}

follow({ figures, pictures: () => Promise.all([drawChart(), drawPlayers()]) });
