// The figures of a search's page: its state, the beam, times, speed and what was found, written into the server's markup.
import { whole } from "../charts/format.js";
import { range, valueText } from "./parts.js";
import { placeBeam, placeTimes, showState, sparkline, WISHED } from "./head.js";
import { ending } from "./ending.js";
import { speeds, speedTold } from "./pace.js";
import { at, done, ended, page, rounds, search, state, totals, underWay, y } from "./state.js";

const step = search ? "Round" : "Part"; // a re-check plays a list, part by part

export function showStatus() {
  const replaying = state.ticks && state.tick >= state.ticks;
  const [played] = underWay();
  const searching = played ? `searching, ${whole(played)} of ${whole(page.population)} lineups of round ${whole(state.tick + 1)} played` : "searching";
  const ready = replaying ? "playing the edge again on fresh battles" : searching;
  const busy = WISHED[state.wish] ?? (page.moving ? ready : state.tick ? "starting its workers again" : "getting ready");
  showState(step, busy);
  const move = at("other-game");
  if (move) move.hidden = state.status !== "failed" || !state.message.toLowerCase().includes(page.other_game);
  const explore = at("explore");
  explore.hidden = !state.tick;
  explore.classList.toggle("btn-primary", state.status !== "paused");
  explore.querySelector("span").textContent = ended() ? "Explore what was found" : "Explore what is found so far";
}

export function showBeam() {
  const { battles } = totals();
  const share = done();
  const planned = Math.max(page.battles, state.status === "finished" ? battles : 0);
  const percent = `${Math.floor(100 * share)}\u00a0%`;
  placeBeam(share, planned ? `${percent} of ${whole(planned)} battles` : percent);
}

export function showTimes() {
  placeTimes(ending());
}

export function showFigures() {
  const { battles, cached, seconds } = totals();
  const counted = { times: rounds.seconds, counts: rounds.battles, total: battles, seconds };
  const [pace, what] = speedTold("battles", state.status === "running", counted);
  at("speed").textContent = pace ? whole(pace >= 1000 ? Math.round(pace / 100) * 100 : pace) : "–";
  at("speed-note").textContent = what;
  at("battles").textContent = whole(battles);
  at("cached").textContent = battles ? `${whole((100 * cached) / battles)}\u00a0% of them from memory` : "";
  const { strong = 0, evaluated = 0, hypervolume } = state.metrics;
  if (at("strong")) at("strong").textContent = whole(strong);
  if (at("compared")) at("compared").textContent = `of ${whole(evaluated)} compared`;
  if (at("evaluated")) at("evaluated").textContent = whole(evaluated);
  if (hypervolume !== undefined) at("hypervolume").textContent = hypervolume.toLocaleString("en-GB", { maximumFractionDigits: 4 });
  sparkline(speeds(rounds.seconds, rounds.battles));
}

/** "4.0× or more" where the value stands at the objective's cap. */
const reached = (value) => `${valueText(y, value)}${y.cap !== null && value === y.cap ? (y.direction === "max" ? " or more" : " or less") : ""}`;
const headline = y.toward.startsWith("more ") ? `Most ${y.toward.slice(5)} found` : "Furthest found";

export function showWorst(now) {
  at("worst-name").textContent = headline;
  at("rounds-title").textContent = headline;
  const element = at("worst");
  const aside = (text) => Object.assign(document.createElement("span"), { className: "aside", textContent: text });
  const sure = at("sure");
  const { worst, worst_low: low, worst_high: high } = state.metrics;
  if (page.fresh && now) return showFresh(element, sure, now, aside);
  if (worst !== undefined) {
    element.replaceChildren(reached(worst), ...(low < high ? [aside(range(y, low, high))] : []));
    const sofar = ended() ? "95 % range, on the battles of the search" : "how sure: likely, re-checked at the end";
    sure.textContent = search ? sofar : "95 % range, on fresh battles";
  } else {
    element.textContent = "–";
    sure.textContent = state.tick && y.line !== null ? (page.strength ? "nothing is over the line and strong yet" : "nothing is surely over the line yet") : "";
  }
  return undefined;
}

function showFresh(element, sure, now, aside) {
  const rows = now.y.map((_, i) => i).filter((i) => now.verdict[i] === 2 || y.line === null);
  if (!rows.length) {
    element.textContent = "–";
    const none = page.strength ? "nothing was over the line and strong" : "nothing was surely over the line";
    sure.textContent = rounds.strong.at(-1) ? "none was confirmed on fresh battles" : none;
    return;
  }
  const sign = y.direction === "max" ? 1 : -1;
  const best = rows.reduce((a, b) => (sign * now.y[b] > sign * now.y[a] ? b : a));
  const half = now.yh[best];
  element.replaceChildren(reached(now.y[best]), ...(!half ? [] : [aside(range(y, now.y[best] - half, now.y[best] + half))]));
  sure.textContent = "re-checked on fresh battles";
}
