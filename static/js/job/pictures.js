// What has been found so far: fetched round by round, drawn, and told as a legend and a table.
import { mark } from "../marks.js";
import { fillTable } from "../tables.js";
import { drawFront, drawRounds } from "./charts.js";
import { judged, legendOf } from "./checked.js";
import { edgeAt, edgeRows, entry, roundEntries } from "./edge.js";
import { showWorst } from "./figures.js";
import { at, ended, links, page, rounds, search, state, x, y } from "./state.js";
/** @import { Dots, Early, Picture } from "./edge.js" */

/** @typedef {Picture & { short?: string[] }} Now */

/** @param {{ early: Early[], now: Now, around: Dots[] }} drawn */
function legend({ early, now, around }) {
  const entries = search ? [] : legendOf({ ...now, short: now.short ?? [] });
  if (search && y.line !== null) {
    const count = (/** @type {number} */ verdict) => now.verdict.filter((v) => v === verdict).length;
    entries.push(entry(mark("strong"), page.words.strong));
    if (count(1)) entries.push(entry(mark("unsure"), page.words.unsure));
  }
  if (search) entries.push(...roundEntries(early, page.fresh ? "On fresh battles" : "Now"));
  if (around.length) entries.push(entry(mark("under"), "Some of the lineups played"));
  at("legend").replaceChildren(...entries);
}

/** @param {Now} now */
function table(now) {
  const verdicts = y.line === null ? ["", "", ""] : [page.words.under, page.words.unsure, page.words.strong];
  const rows = edgeRows(now, { x, y }, (i) => !search || now.edge[i]).slice(0, 200);
  fillTable(at("table-head"), at("table-body"), [y.title, "95 % range", x.title, "Verdict"],
    rows.map(({ i, cells }) => [...cells, search ? verdicts[now.verdict[i]] : (now.short?.[i] ?? "")]));
}

/** By which battles each line is the edge.
 * @param {boolean} rounds whether lines of earlier rounds are drawn, too */
function linesWords(rounds) {
  if (!page.fresh) return "Each line is the edge after its round.";
  return rounds ? "Each line is the edge after its round. The thick one is measured on fresh battles." : "The line is the edge, measured on fresh battles.";
}

/** What the edge is, and what the small marks beside it are.
 * @param {Now} now @param {boolean} rounds */
function edgeWords({ edge }, rounds) {
  const why = [page.undrawn ? "because of a measure that is not drawn" : "", page.fresh ? "only by the search’s own battles" : ""].filter(Boolean).join(", or ");
  const along = edge.filter(Boolean).length;
  const line = along === 1
    ? `No other ${page.fresh ? "re-tested lineup" : "lineup found"} is ahead of the large mark on either axis.`
    : linesWords(rounds);
  return along < edge.length && why ? `${line} Small coloured marks are on the edge ${why}.` : line;
}

/** Draw what has been found so far; true where the site gave no answer to some of it. */
export async function drawNow() {
  const empty = at("front-empty");
  const chart = at("front-chart");
  if (!state.tick) {
    chart.hidden = true;
    empty.hidden = false;
    const [step, found] = search ? ["round", "found"] : ["part", "measured"];
    empty.textContent = ended() ? `Nothing was ${found}: the job ended before its first ${step} was complete.` : `The first ${step} is not complete yet. The picture grows with every ${step}.`;
    if (search) at("rounds-card").hidden = true;
    showWorst();
    return false;
  }
  const { now: picture, early, around, partly } = await edgeAt(links, { tick: state.tick, ticks: state.ticks, fresh: page.fresh, grows: search });
  if (!picture) return partly; // the site is away: the old picture stays
  const now = search ? picture : await judged(picture);
  chart.hidden = false;
  empty.hidden = true;
  at("found-note").textContent = search ? edgeWords(now, early.length > 0) : "By the battles of this re-check alone, with 95 % ranges.";
  legend({ early, now, around });
  table(now);
  showWorst(now);
  await drawFront(chart, { x, y, now, early, around, search });
  if (!search) return partly;
  const curve = rounds.worst.some((value) => value !== null);
  at("rounds-card").hidden = !curve;
  at("rounds-note").textContent = `${page.words.strong} only, by the search’s own battles. Picked for looking extreme, so part of it may be luck.`;
  if (curve) await drawRounds(at("rounds-chart"), { y, rounds, ticks: state.ticks });
  return partly;
}
