// What has been found so far: fetched round by round, drawn, and told as a legend and a table.
import { whole } from "../charts/format.js";
import { range, valueText } from "./parts.js";
import { mark } from "../marks.js";
import { drawFront, drawRounds } from "./charts.js";
import { showWorst } from "./figures.js";
import { dottedRounds, earlyRounds } from "./pace.js";
import { at, ended, links, page, rounds, search, state, x, y } from "./state.js";

/* What is fetched never changes, so each is fetched once. */
const pictures = new Map();
function picture(link, query) {
  const url = `${link}?${query}`;
  if (!pictures.has(url)) {
    const asked = fetch(url).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    asked.then((found) => found ?? pictures.delete(url));
    pictures.set(url, asked);
  }
  return pictures.get(url);
}

const SHAPES = ["○", "□", "△"];
function legend(early, now) {
  const entry = (sign, text) => {
    const item = document.createElement("span");
    item.className = "with-mark";
    item.append(sign, text);
    return item;
  };
  const sample = (css, text = "") => Object.assign(document.createElement("span"), { className: css, textContent: text });
  const entries = [];
  if (y.line !== null) {
    const count = (verdict) => now.verdict.filter((v) => v === verdict).length;
    entries.push(entry(mark("strong"), page.strength ? "Over the line and strong" : "Over the line"));
    if (count(1)) entries.push(entry(mark("unsure"), page.strength ? "Over, weak or unsure" : "Over, unsure"));
  }
  entries.push(...early.map(({ tick }, i) => entry(sample(`legend-line legend-early-${i}`, SHAPES[i]), `Round ${whole(tick)}`)));
  if (search) entries.push(entry(sample("legend-line legend-now"), page.fresh ? "On fresh battles" : "Now"));
  at("legend").replaceChildren(...entries);
}

function table(now) {
  const rows = now.y.map((_, i) => i).filter((i) => !search || now.edge[i]);
  const sign = y.direction === "max" ? -1 : 1;
  rows.sort((a, b) => sign * (now.y[a] - now.y[b]));
  const cell = (text, name = "td") => Object.assign(document.createElement(name), { textContent: text });
  const head = document.createElement("tr");
  head.append(cell(y.title, "th"), cell("95 % range", "th"), cell(x.title, "th"), cell("Verdict", "th"));
  for (const th of head.children) th.scope = "col";
  at("table-head").replaceChildren(head);
  const verdicts = y.line === null ? ["", "", ""] : ["Under the line", page.strength ? "Over, weak or unsure" : "Over, unsure", page.strength ? "Over the line and strong" : "Over the line"];
  at("table-body").replaceChildren(
    ...rows.slice(0, 200).map((i) => {
      const row = document.createElement("tr");
      const half = now.yh[i];
      row.append(cell(valueText(y, now.y[i])), cell(half === null ? "not known" : range(y, now.y[i] - half, now.y[i] + half)), cell(valueText(x, now.x[i])), cell(verdicts[now.verdict[i]]));
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
  const shown = page.fresh ? picture(links.front, "of=fresh") : picture(links.front, `tick=${state.tick}`);
  const early = search ? earlyRounds(state.ticks, state.tick) : [];
  const [now, earlier, around] = await Promise.all([
    shown,
    Promise.all(early.map(async (tick) => ({ tick, picture: await picture(links.front, `tick=${tick}`) }))),
    Promise.all(search ? dottedRounds(state.tick).map((tick) => picture(links.around, `tick=${tick}`)) : []),
  ]);
  if (!now) return undefined; // the site is away: the old picture stays
  const known = earlier.filter((e) => e.picture);
  chart.hidden = false;
  empty.hidden = true;
  at("found-note").textContent = search ? "Each line is the edge of the search: no lineup found by then is further along both axes." : "Lineups played again on fresh battles, with their 95 % ranges.";
  legend(known, now);
  table(now);
  showWorst(now);
  await drawFront(chart, { x, y, now, early: known, around: around.filter(Boolean), search });
  const curve = search && rounds.worst.some((value) => value !== null);
  at("rounds-card").hidden = !curve;
  at("rounds-note").textContent = page.strength ? "Over the line and strong only, with its 95 % range" : "Surely over the line only, with its 95 % range";
  if (curve) await drawRounds(at("rounds-chart"), { y, rounds, ticks: state.ticks });
  return undefined;
}
