// The figures of a search's page: its state, the beam, times, speed and what was found, written into the server's markup.
import { percent, progress, whole } from "../charts/format.js";
import { find, make } from "../elements.js";
import { textsOf, valueText } from "./parts.js";
import { placeBeam, placeTimes, showState, sparkline, COMMANDED } from "./head.js";
import { ending } from "./ending.js";
import { speeds, speedText } from "./pace.js";
import { at, atIfAny, done, ended, page, planned, replaying, rounds, search, state, totals, underWay, y } from "./state.js";
/** @import { Picture } from "./edge.js" */
/** @import { Furthest } from "./state.js" */

const step = search ? "Round" : "Part"; // a re-check plays a list, part by part

export function showStatus() {
  const [played] = underWay();
  const searching = !search ? "playing lineups again on fresh battles" : played ? `searching, ${whole(played)} of ${whole(page.population)} lineups of round ${whole(state.tick + 1)} played` : "searching";
  const ready = search && state.ticks && replaying() ? "playing the edge again on fresh battles" : searching;
  const busy = COMMANDED[state.command] ?? (page.moving ? ready : state.tick ? "starting its workers again" : "getting ready");
  showState(step, busy);
  const move = atIfAny("other-game");
  if (move) move.hidden = state.status !== "failed" || !state.message.toLowerCase().includes(page.other_game);
  const explore = at("explore");
  explore.hidden = !state.tick;
  explore.classList.toggle("btn-primary", state.status !== "paused" && !atIfAny("suspects"));
  find(explore, "span").textContent = ended() ? "Explore what was found" : "Explore what is found so far";
}

export function showBeam() {
  const { battles } = totals();
  const share = done();
  const all = state.status === "finished" ? battles : planned();
  const percentDone = progress(share);
  const about = !ended() && page.edge && !state.counters.planned;
  const words = about ? `about ${whole(Number(all.toPrecision(3)))}` : whole(all);
  placeBeam(share, all ? `${percentDone} of ${words} battles` : percentDone);
}

export function showTimes() {
  placeTimes(ending());
}

export function showFigures() {
  const { battles, cached, seconds } = totals();
  const counted = { times: rounds.seconds, counts: rounds.battles, total: battles, seconds, took: state.took };
  const [pace, what] = speedText("battles", state.status === "running", counted);
  at("speed").textContent = pace ? whole(pace >= 1000 ? Math.round(pace / 100) * 100 : pace) : "–";
  at("speed-note").textContent = what;
  at("battles").textContent = whole(battles);
  const memory = atIfAny("cached");
  if (memory) memory.textContent = battles ? `${percent(cached / battles)} reused from earlier identical battles` : "";
  const { evaluated = 0, hypervolume } = state.metrics;
  if (atIfAny("strong")) showFound(evaluated);
  const count = atIfAny("evaluated");
  if (count) count.textContent = whole(evaluated);
  if (hypervolume !== undefined) at("hypervolume").textContent = hypervolume.toLocaleString("en-GB", { maximumFractionDigits: 4 });
  sparkline(pace ? speeds(rounds.seconds, rounds.battles) : []);
}

/** How many are over the line and strong, split as on every page: as the server told it, and what was found since.
 * @param {number} evaluated */
function showFound(evaluated) {
  const { confirmed, meant_words, random_words } = page.found;
  const bySearch = page.found.by_search + (state.metrics.strong ?? 0) - page.found.told;
  at("strong").textContent = whole(bySearch + (confirmed ?? 0));
  const luck = bySearch ? ", some by luck" : "";
  const split = `${whole(bySearch)} found by the search${luck}`;
  const what = confirmed === null ? `found by the search${luck}` : `${whole(confirmed)} confirmed on fresh battles, ${split}`;
  const sentences = [`${what}, of ${whole(evaluated)} played${meant_words}.`, random_words, confirmed ? (page.false_alarms ?? "") : ""];
  at("compared").textContent = sentences.filter(Boolean).join(" ");
}

/** "4.0× or more" where the value stands at the objective's cap.
 * @param {number} value @param {string} [words] */
const reached = (value, words = valueText(y, value)) => `${words}${y.cap !== null && value === y.cap ? (y.direction === "max" ? " or more" : " or less") : ""}`;
const most = y.toward.startsWith("more ") ? `Most ${y.toward.slice(5)}` : "";
/** "Most decided by going first, confirmed": words of their own after several. */
const apart = most.slice(5).includes(" ") ? "," : "";
const furthest = most || (y.toward.startsWith("better") ? "Best" : "Furthest");

/** Whose range it is: the furthest of those that fresh battles confirm, picked from all that were played again.
 * @param {number} played @param {Furthest} furthest @param {number} confirmed */
function pickedFrom(played, [, low, high], confirmed) {
  if (played === 1) return "the only one played again, confirmed on fresh battles";
  const what = confirmed === 1 ? "the only one confirmed" : `the furthest of ${whole(confirmed)} confirmed`;
  const from = `picked from ${whole(played)} played again on fresh battles`;
  return low === null || high === null ? `${what}, ${from}` : `${what}, ${from}; the 95\u00a0% range allows for that`;
}

/** @param {Picture} [now] */
export function showWorst(now) {
  if (!search) return;
  const { found, words } = page;
  const replayed = found.played > 0 && y.line !== null;
  at("worst-name").textContent = `${furthest}${apart} ${replayed ? "confirmed" : "found"}`;
  at("rounds-title").textContent = `${furthest}${apart} found, by round`;
  const figure = at("worst");
  const note = at("sure");
  const { worst, strong } = state.metrics;
  const none = `no lineup is ${words.strong.toLowerCase()}`;
  if (y.line === null && now?.y.length) {
    figure.textContent = reached((y.direction === "max" ? Math.max : Math.min)(...now.y));
    note.textContent = page.fresh ? "on fresh battles" : "by the search’s own battles, so part may be luck";
  } else if (replayed && !found.furthest) {
    figure.textContent = "–";
    const who = found.played === 1 ? "the one played again is not" : `none of the ${whole(found.played)} played again is`;
    note.textContent = strong || found.strong ? `${who} confirmed on fresh battles` : none;
  } else if (replayed && found.furthest) {
    const [value, low, high] = found.furthest;
    const texts = textsOf(y, value, low !== null && high !== null && low < high ? [low, high] : null);
    figure.replaceChildren(reached(value, texts.value), ...(texts.range ? [make("span", { class: "aside" }, texts.range)] : []));
    note.textContent = pickedFrom(found.played, found.furthest, found.confirmed ?? state.metrics.confirmed);
  } else if (worst === undefined) {
    figure.textContent = "–";
    note.textContent = state.tick && y.line !== null ? (ended() ? none : `no lineup yet: ${words.strong.toLowerCase()}`) : "";
  } else {
    figure.textContent = reached(worst);
    const later = ended() ? "not played again" : "played again at the end";
    note.textContent = `by the search’s own battles, so part may be luck; ${later}`;
  }
}
