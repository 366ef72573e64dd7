// What has been found so far: fetched round by round, drawn, and told as a legend and a table.
import { mark } from "../marks.js";
import { drawFront, drawRounds } from "./charts.js";
import { edgeAt, edgeRows, entry, roundEntries } from "./edge.js";
import { showWorst } from "./figures.js";
import { at, ended, links, page, rounds, search, state, x, y } from "./state.js";

function legend(early, now) {
  const entries = [];
  if (y.line !== null) {
    const count = (verdict) => now.verdict.filter((v) => v === verdict).length;
    entries.push(entry(mark("strong"), page.strength ? "Over the line and strong" : "Over the line"));
    if (count(1)) entries.push(entry(mark("unsure"), page.strength ? "Over, weak or unsure" : "Over, unsure"));
  }
  if (search) entries.push(...roundEntries(early, page.fresh ? "On fresh battles" : "Now"));
  at("legend").replaceChildren(...entries);
}

function table(now) {
  const cell = (text, name = "td") => Object.assign(document.createElement(name), { textContent: text });
  const head = document.createElement("tr");
  head.append(cell(y.title, "th"), cell("95 % range", "th"), cell(x.title, "th"), cell("Verdict", "th"));
  for (const th of head.children) th.scope = "col";
  at("table-head").replaceChildren(head);
  const verdicts = y.line === null ? ["", "", ""] : ["Under the line", page.strength ? "Over, weak or unsure" : "Over, unsure", page.strength ? "Over the line and strong" : "Over the line"];
  at("table-body").replaceChildren(
    ...edgeRows(now, { x, y }, (i) => !search || now.edge[i]).slice(0, 200).map(({ i, cells }) => {
      const row = document.createElement("tr");
      row.append(...cells.map((text) => cell(text)), cell(verdicts[now.verdict[i]]));
      return row;
    }),
  );
}

export async function drawNow() {
  const empty = at("front-empty");
  const chart = at("front-chart");
  if (!state.tick) {
    chart.hidden = true;
    empty.hidden = false;
    empty.textContent = ended() ? "Nothing was found: the job ended before its first round was complete." : "The first round is not complete yet. The picture grows with every round.";
    at("rounds-card").hidden = true;
    return showWorst(null);
  }
  const { now, early, around } = await edgeAt(links, { tick: state.tick, ticks: state.ticks, fresh: page.fresh, grows: search });
  if (!now) return undefined; // the site is away: the old picture stays
  chart.hidden = false;
  empty.hidden = true;
  at("found-note").textContent = search ? "Each line is the edge of the search: no lineup found by then is further along both axes." : "Lineups played again on fresh battles, with their 95 % ranges.";
  legend(early, now);
  table(now);
  showWorst(now);
  await drawFront(chart, { x, y, now, early, around, search });
  const curve = search && rounds.worst.some((value) => value !== null);
  at("rounds-card").hidden = !curve;
  at("rounds-note").textContent = page.strength ? "Over the line and strong only, with its 95 % range" : "Surely over the line only, with its 95 % range";
  if (curve) await drawRounds(at("rounds-chart"), { y, rounds, ticks: state.ticks });
  return undefined;
}
