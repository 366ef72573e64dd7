// The head of any job's page: its state, the beam with its times, and the small picture of its speed.
import { whole } from "../charts/format.js";
import { find, findAll, make } from "../elements.js";
import { showCommand } from "./commanded.js";
import { duration, said, span } from "./pace.js";
import { at, ended, page, state } from "./state.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
/** @param {number} seconds */
const time = (seconds) => clock.format(new Date(seconds * 1000));
/** @type {Record<string, string>} */
export const COMMANDED = { stop: "stopping", pause: "pausing" };
/** @type {Record<string, string>} */
const DOING = { queued: "waits for a worker", waiting: "waits for its turn", paused: "set aside", stopped: "ended early", finished: "", failed: "could not go on" };

/** The chip, the round it is in (``step`` is what a round is called), what it does (``busy``, while it runs), and why.
 * @param {string} step @param {string} busy */
export function showState(step, busy) {
  const which = state.status === "running" ? state.status + state.command : state.status;
  const chip = find(find(document, "#chips", HTMLTemplateElement).content, `[data-chip-of="${which}"]`);
  at("chip").replaceChildren(...chip.cloneNode(true).childNodes);
  at("job").dataset.status = state.status;
  showCommand(state.status, state.command);
  at("round").textContent = state.ticks ? `${step} ${whole(state.tick)} of ${whole(state.ticks)}` : state.tick ? `${step} ${whole(state.tick)}` : "";
  const ready = page.unfinished && state.status === "waiting" ? "gets ready" : DOING[state.status];
  at("doing").textContent = state.status === "running" ? busy : ready;
  at("message").textContent = state.message;
  at("message").hidden = !state.message || state.status === "stopped";
  at("attempt").textContent = String(state.attempt);
  for (const heading of findAll(document, "[data-going]")) heading.textContent = heading.dataset[ended() ? "ended" : "going"] ?? "";
  at("goes-on").hidden = state.command !== "" || !["running", "queued", "waiting"].includes(state.status);
}

/** The beam stands at ``share``, in [0, 1], and says ``label``.
 * @param {number} share @param {string} label */
export function placeBeam(share, label) {
  const beam = find(document, ".job .beam", Element);
  const place = `${(100 * share).toFixed(2)}%`;
  find(beam, ".filled", Element).setAttribute("width", place);
  find(beam, "svg", Element).setAttribute("x", place);
  beam.setAttribute("aria-valuenow", String(Math.floor(100 * share)));
  beam.setAttribute("aria-valuetext", label);
  let text = beam.querySelector(":scope > text");
  if (!text) text = beam.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "text"));
  text.setAttribute("y", "39");
  text.setAttribute("x", place);
  text.setAttribute("text-anchor", share < 0.12 ? "start" : share > 0.88 ? "end" : "middle");
  text.textContent = label;
}

/** Seconds left, or why nobody can say. @typedef {{ left?: number[], why?: string }} Ending */

/** @type {Ending} */
let shown = {};
/** When it began and ends: the seconds left as [low, middle, high], or why nobody can say.
 * @param {Ending} ending */
export function placeTimes(ending) {
  shown = ending;
  const { left, why } = ending;
  const place = at("left");
  place.replaceChildren();
  if (left) {
    const range = make("span", { class: "muted" }, ` (${span(left[0], left[2])})`);
    place.append(make("b", {}, `About ${duration(said(left[1]))} left`), range);
  } else if (why) {
    place.append(make("span", { class: "muted" }, why));
  } else if (ended() && state.took !== null) {
    place.textContent = `took ${duration(state.took)}`;
  }
  const ends = find(document, ".job .beam-box");
  if (!ends.querySelector(".ends")) ends.append(make("div", { class: "ends" }, make("span"), make("span")));
  const [start, end] = findAll(ends, ".ends > span");
  start.textContent = state.started ? `${time(state.started)} start` : "";
  if (ended() && state.ended) end.textContent = `${time(state.ended)} end`;
  else end.textContent = left ? `about ${time(Date.now() / 1000 + left[1])} end${page.early ? ", or earlier" : ""}` : "";
  makeRoom(ends, [start, end]);
}

const phone = matchMedia("(max-width: 767.98px)");
const APART = 8;

/** The times at the beam's ends share a line with its label: the one it would touch gives way. On a phone, and of a job
 * that is over, to a line below; in between it comes back as the beam moves on.
 * @param {HTMLElement} box @param {HTMLElement[]} words */
function makeRoom(box, words) {
  box.classList.remove("with-ends");
  const label = find(box, ".beam > text", Element).getBoundingClientRect();
  const touched = words.filter((word) => {
    const own = word.getBoundingClientRect();
    return own.width > 0 && own.left < label.right + APART && own.right > label.left - APART;
  });
  const below = phone.matches || ended();
  box.classList.toggle("with-ends", below && touched.length > 0);
  for (const word of words) word.classList.toggle("covered", !below && touched.includes(word));
}
addEventListener("resize", () => placeTimes(shown));

/** The last of these values as a line.
 * @param {number[]} all */
export function sparkline(all) {
  const values = all.slice(-80);
  const svg = at("sparkline", Element);
  svg.replaceChildren();
  svg.toggleAttribute("hidden", values.length < 3);
  if (values.length < 3) return;
  const top = Math.max(...values) * 1.08;
  const path = values.map((v, i) => `${i ? "L" : "M"}${((190 * i) / (values.length - 1)).toFixed(1)} ${(42 - (38 * v) / top).toFixed(1)}`).join("");
  /** @param {string} name @param {Record<string, string>} attributes */
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    svg.append(made);
  };
  make("path", { d: "M0 43H190", class: "base" });
  make("path", { d: path, class: "line" });
}
