// How the search went: best and typical lineup, volume and pieces round by round, the map that MAP-Elites fills, and who
// copied whom. One chart at a time; it follows the job while it runs.
import { decimals, percent, whole } from "../charts/format.js";
import { tokens } from "../charts/theme.js";
import { closest, find, findAll, make } from "../elements.js";
import { family } from "../marks.js";
import { fillTable } from "../tables.js";
import { cellText, drawBest, drawGrid, drawLineage, drawPieces, drawVolume } from "./course_charts.js";
import { digitsOfColumn, valueText } from "./parts.js";
import { page, state, y } from "./state.js";
import { telling } from "./telling.js";

/** @import { Bests, Grid, Held, Lineage, Numbers } from "./course_charts.js" */
/** @import { Measure } from "./parts.js" */
/** @import { ChartText } from "./telling.js" */

const LOOK_MS = 2500;
const card = find(document, "[data-course]");
const links = { course: card.dataset.courseLink ?? "", grid: card.dataset.gridLink ?? "", lineage: card.dataset.lineageLink ?? "" };
/** @param {string} name */
const at = (name) => find(card, `[data-course-${name}]`);
let chosen = "best";
/** What is shown belongs to this round, and to the map before or after it was measured again. */
const moment = () => `${state.tick} ${page.fresh_map}`;
let shownAt = "";
/** @type {ChartText} */
let shown = null;

/** @param {Node} sign @param {string} text */
const entry = (sign, text) => make("span", { class: "with-mark" }, sign, text);
/** Rows of a table: the columns, in these words. @param {Numbers[]} columns @param {((value: number | null) => string)[]} words */
const cells = (columns, words) => columns[0].map((_, i) => columns.map((column, k) => words[k](column[i])));
/** @param {(value: number) => string} words @returns {(value: number | null) => string} */
const known = (words) => (value) => (value === null ? "not known" : words(value));
/** Values of one objective in words, in equally many digits but for those close to its line.
 * @param {Measure} axis @param {Numbers} values */
const valuesOf = (axis, values) => {
  const how = { ...axis, digits: digitsOfColumn(axis, values, []) };
  return known((v) => valueText(how, v));
};

const round = known(whole);

/** What a link answers; null while the site is away. @param {string} link */
async function read(link) {
  const answer = await fetch(link).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

/** @type {Record<string, () => Promise<ChartText>>} */
const CHARTS = {
  best: telling({
    /** @returns {Promise<Bests | null>} */
    read: () => read(links.course),
    note: () => `The best lineup of each round’s edge in ${y.title.toLowerCase()} by the search’s own battles (picked as the best of many, so partly luck), and the middle half of the lineups played. When both lines flatten, the search has converged.`,
    legend: () => [entry(make("span", { class: "legend-line legend-now" }), "Best"), entry(make("span", { class: "legend-band" }), "Middle half of the round, dotted: the median lineup")],
    heads: () => ["Round", "Best", "Median lineup", "Lower quarter", "Upper quarter"],
    rows: (c) => {
      const value = valuesOf(y, [...c.best, ...c.median]);
      return cells([c.tick, c.best, c.median, c.low, c.high], [round, value, value, value, value]);
    },
    empty: (c) => !c.tick.length,
    draw: (place, c, theme) => drawBest(place, c, y, theme),
  }),
  volume: telling({
    /** @returns {Promise<Held | null>} */
    read: () => read(links.course),
    note: () => "How much the edge beats, all objectives together (hypervolume), in units of the first round. It may also fall, where lineups are measured again.",
    heads: () => ["Round", "Volume"],
    rows: (c) => cells([c.tick, c.volume], [round, known((v) => decimals(v, 3))]),
    empty: (c) => !c.tick.length,
    draw: drawVolume,
  }),
  pieces: telling({
    /** @returns {Promise<Held | null>} */
    read: () => read(links.course),
    note: () => "Share of each round’s lineups that hold a piece, for the pieces that gained most since the first rounds: those the search holds on to.",
    legend: (c) => c.pieces.map((piece, i) => entry(family(i + 1), piece.name)),
    heads: (c) => ["Round", ...c.pieces.map((piece) => piece.name)],
    rows: (c) => cells([c.tick, ...c.pieces.map((piece) => piece.share)], [round, ...c.pieces.map(() => known(percent))]),
    empty: (c) => !c.tick.length || !c.pieces.length,
    draw: drawPieces,
  }),
  grid: telling({
    /** @returns {Promise<Grid | null>} */
    read: () => read(`${links.grid}?${page.fresh_map ? "of=fresh" : `tick=${state.tick}`}`),
    note: (g) => `Each cell is a kind of lineup; its colour is the best found of that kind in ${g.quality.title.toLowerCase()}. ${whole(g.cells[0].length)} of ${whole(g.bins ** g.axes.length)} cells are filled; those at the ends also hold what lies beyond.${page.fresh_map ? " Measured on battles the search never saw." : ""}${g.hidden ? " Kinds that differ only in a third number share a cell." : ""}`,
    heads: (g) => [...g.axes.map((axis) => axis.title), g.quality.title, "Lineup"],
    rows: (g) => {
      const value = valuesOf(g.quality, g.cells[2]);
      return g.cells[0].map((_, i) => [...g.axes.map((axis, k) => cellText(axis, g.cells[k][i])), value(g.cells[2][i]), `#${g.cells[3][i]}`]);
    },
    empty: (g) => !g.cells[0].length,
    draw: drawGrid,
  }),
  lineage: telling({
    /** @returns {Promise<Lineage | null>} */
    read: () => read(`${links.lineage}?tick=${state.tick}`),
    note: (l) => `A line is a member, step by step. A slanted line is a copy: a member that lagged went on from a better one’s weights and settings. ${whole(l.copied.filter((c) => c >= 0).length)} copies so far.`,
    heads: () => ["Step", "Member", "Copied"],
    rows: (l) => l.member.map((m, i) => [l.step[i] + 1, m + 1, l.copied[i]]).filter(([, , c]) => c >= 0).map(([step, m, c]) => [whole(step), whole(m), `member ${whole(c + 1)}`]),
    empty: (l) => !l.member.length,
    draw: drawLineage,
  }),
};

/** @param {ChartText} found */
async function show(found) {
  at("chart").hidden = !found;
  at("empty").hidden = found !== null;
  at("empty").textContent = found ? "" : "Nothing is kept of this search that could be shown here.";
  at("note").textContent = found?.note ?? "";
  at("legend").replaceChildren(...(found?.legend ?? []));
  if (!found) return;
  fillTable(at("head"), at("body"), found.heads, found.rows);
  await found.draw(at("chart"), tokens());
}

let busy = false;
/** @param {{ again?: boolean }} [options] @returns {Promise<void>} */
async function look({ again = false } = {}) {
  const seen = card.getBoundingClientRect().top < innerHeight + 400 && document.visibilityState === "visible";
  card.hidden = !state.tick;
  if (busy || card.hidden || (!again && (shownAt === moment() || !seen))) return;
  busy = true;
  const [now, mine] = [moment(), chosen];
  const found = await CHARTS[mine]();
  busy = false;
  if (mine !== chosen) return look({ again: true });
  shownAt = now;
  shown = found ?? shown; // the site is away: the old picture stays
  await show(shown);
  return undefined;
}

card.addEventListener("click", ({ target }) => {
  const button = closest(target, "[data-tell]");
  if (!button || button.dataset.tell === chosen) return;
  chosen = button.dataset.tell ?? "";
  shown = null;
  for (const each of findAll(card, "[data-tell]")) each.setAttribute("aria-pressed", String(each === button));
  look({ again: true });
});
document.addEventListener("equipoise:theme", () => shown && show(shown));
setInterval(look, LOOK_MS);
addEventListener("scroll", () => !shownAt && look(), { passive: true });
look();
