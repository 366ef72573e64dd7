// The figures of a job's page: its state, the beam, times, speed and what was found, written into the server's markup.
import { whole } from "../charts/format.js";
import { range, valueText } from "./charts.js";
import { duration, said, span, speedNow, speeds, timeLeft } from "./pace.js";
import { at, done, ended, page, rounds, search, state, totals, underWay, y } from "./state.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const step = search ? "Round" : "Part"; // a re-check plays a list, part by part
const time = (seconds) => clock.format(new Date(seconds * 1000));

const DOING = { queued: "waits for a worker", waiting: "waits for its turn", paused: "set aside", stopped: "ended early", finished: "", failed: "could not go on" };
const WISHED = { stop: "stopping, the round under way is given up", pause: "pausing" };

export function showStatus() {
  const chip = document.getElementById("chips").content.querySelector(`[data-chip-of="${state.status}"]`);
  at("chip").replaceChildren(...chip.cloneNode(true).childNodes);
  at("job").dataset.status = state.status;
  const actions = at("job-actions");
  actions.dataset.status = state.status;
  actions.dataset.wish = state.wish;
  at("round").textContent = state.ticks ? `${step} ${whole(state.tick)} of ${whole(state.ticks)}` : state.tick ? `${step} ${whole(state.tick)}` : "";
  const running = state.status === "running";
  const replaying = running && state.ticks && state.tick >= state.ticks;
  const [played] = underWay();
  const searching = played ? `searching, ${whole(played)} of ${whole(page.population)} lineups of round ${whole(state.tick + 1)} played` : "searching";
  const ready = replaying ? "playing the edge again on fresh battles" : searching;
  const busy = WISHED[state.wish] ?? (page.moving ? ready : state.tick ? "starting its workers again" : "getting ready");
  at("doing").textContent = running ? busy : DOING[state.status];
  at("message").textContent = state.message;
  at("message").hidden = !state.message || state.status === "stopped";
  const move = at("other-game");
  if (move) move.hidden = state.status !== "failed" || !state.message.toLowerCase().includes(page.other_game);
  const explore = at("explore");
  explore.hidden = !state.tick;
  explore.classList.toggle("btn-primary", state.status !== "paused");
  explore.querySelector("span").textContent = ended() ? "Explore what was found" : "Explore what is found so far";
  at("attempt").textContent = state.attempt;
  at("goes-on").hidden = !["running", "queued", "waiting"].includes(state.status);
}

export function showBeam() {
  const { battles } = totals();
  const share = done();
  const beam = document.querySelector(".job .beam");
  const place = `${(100 * share).toFixed(2)}%`;
  beam.querySelector(".filled").setAttribute("width", place);
  beam.querySelector("svg").setAttribute("x", place);
  beam.setAttribute("aria-valuenow", Math.floor(100 * share));
  const planned = Math.max(page.battles, state.status === "finished" ? battles : 0);
  const label = planned ? `${Math.floor(100 * share)}\u00a0% of ${whole(planned)} battles` : `${Math.floor(100 * share)}\u00a0%`;
  beam.setAttribute("aria-valuetext", label);
  let text = beam.querySelector(":scope > text");
  if (!text) text = beam.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "text"));
  text.setAttribute("y", 39);
  text.setAttribute("x", place);
  text.setAttribute("text-anchor", share < 0.12 ? "start" : share > 0.88 ? "end" : "middle");
  text.textContent = label;
}

export function showTimes() {
  const left = state.status === "running" && !state.wish && page.moving ? timeLeft(rounds, state.ticks) : null;
  const element = at("left");
  element.replaceChildren();
  if (left) {
    const main = document.createElement("b");
    main.textContent = `About ${duration(said(left[1]))} left`;
    const range = document.createElement("span");
    range.className = "muted";
    range.textContent = ` (${span(left[0], left[2])})`;
    element.append(main, range);
  } else if (ended() && state.counters.seconds) {
    element.textContent = `took ${duration(state.counters.seconds)}`;
  }
  const ends = document.querySelector(".job .beam-box");
  let words = ends.querySelector(".ends");
  if (!words) {
    words = document.createElement("div");
    words.className = "ends";
    words.append(document.createElement("span"), document.createElement("span"));
    ends.append(words);
  }
  const [start, end] = words.children;
  start.textContent = state.started ? `${time(state.started)} start` : "";
  if (ended() && state.ended) end.textContent = `${time(state.ended)} end`;
  else end.textContent = left ? `about ${time(Date.now() / 1000 + left[1])} end` : "";
  makeRoom(ends, [start, end]);
}

const phone = matchMedia("(max-width: 767.98px)");
const APART = 8;

/** The times at the beam's ends share a line with its label: the one it would touch gives way, on a phone to a line below. */
function makeRoom(box, words) {
  box.classList.remove("with-ends");
  const label = box.querySelector(".beam > text").getBoundingClientRect();
  const touched = words.filter((word) => {
    const own = word.getBoundingClientRect();
    return own.width > 0 && own.left < label.right + APART && own.right > label.left - APART;
  });
  if (phone.matches) box.classList.toggle("with-ends", touched.length > 0);
  for (const word of words) word.classList.toggle("covered", !phone.matches && touched.includes(word));
}
addEventListener("resize", () => at("job") && showTimes());

export function showFigures() {
  const { battles, cached, seconds } = totals();
  const now = state.status === "running" ? speedNow(rounds) : null;
  const mean = seconds > 0 ? battles / seconds : null;
  const pace = now ?? mean;
  at("speed").textContent = pace ? whole(pace >= 1000 ? Math.round(pace / 100) * 100 : pace) : "–";
  at("speed-note").textContent = now || !mean ? "battles a second" : "battles a second on average";
  at("battles").textContent = whole(battles);
  at("cached").textContent = battles ? `${whole((100 * cached) / battles)}\u00a0% answered from memory` : "";
  const { strong = 0, evaluated = 0, hypervolume } = state.metrics;
  if (at("strong")) at("strong").textContent = whole(strong);
  const counted = page.fresh ? ", by the search’s own battles" : "";
  if (at("compared")) at("compared").textContent = `of ${whole(evaluated)} compared${counted}`;
  if (at("evaluated")) at("evaluated").textContent = whole(evaluated);
  if (hypervolume !== undefined) at("hypervolume").textContent = hypervolume.toLocaleString("en-GB", { maximumFractionDigits: 4 });
  sparkline();
}

function sparkline() {
  const values = speeds(rounds).slice(-80);
  const svg = at("sparkline");
  svg.replaceChildren();
  svg.toggleAttribute("hidden", values.length < 3);
  if (values.length < 3) return;
  const top = Math.max(...values) * 1.08;
  const path = values.map((v, i) => `${i ? "L" : "M"}${((190 * i) / (values.length - 1)).toFixed(1)} ${(42 - (38 * v) / top).toFixed(1)}`).join("");
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    svg.append(made);
  };
  make("path", { d: "M0 43H190", class: "base" });
  make("path", { d: path, class: "line" });
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
    sure.textContent = state.metrics.strong ? "none was confirmed on fresh battles" : none;
    return;
  }
  const sign = y.direction === "max" ? 1 : -1;
  const best = rows.reduce((a, b) => (sign * now.y[b] > sign * now.y[a] ? b : a));
  const half = now.yh[best];
  element.replaceChildren(reached(now.y[best]), ...(!half ? [] : [aside(range(y, now.y[best] - half, now.y[best] + half))]));
  sure.textContent = "re-checked on fresh battles";
}
