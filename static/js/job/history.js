// The history of a job as people read it, newest first.
import { plural, whole } from "../charts/format.js";
import { copyOf, find, findOptional, make } from "../elements.js";
import { exactly } from "../time.js";
import { at, page, state } from "./state.js";

const MOST_LINES = 60;
let incidents = 0;

/** A line of the history. `at`: in seconds. @typedef {{ at: number, words: string, serious?: boolean, waits?: boolean }} Line */

/** @param {Line} event */
function line({ at: when, words, serious, waits }) {
  const row = copyOf(serious ? "history-row-serious" : waits ? "history-row-waits" : "history-row");
  const stamp = new Date(when * 1000);
  const time = find(row, "time", HTMLTimeElement);
  time.textContent = exactly(stamp);
  time.dateTime = stamp.toISOString();
  const [, head, rest] = words.match(/^(.*?[.:])(?=\s|$)(.*)$/s) ?? [null, words, ""];
  const text = find(row, ".grow");
  if (serious) text.append(make("b", {}, head), rest);
  else text.textContent = words;
  return row;
}

export function showIncidents() {
  at("incidents").textContent = incidents ? `${plural(incidents, "incident")}${state.status === "failed" || page.in_step === false ? "" : ", no result changed"}` : "";
}

/** @type {{ words: string, count: number, row: HTMLElement, first: string } | null} */
let last = null;
/** A new line at the top; one that says what the line below it says is counted there instead.
 * @param {Line} event */
function add(event) {
  const again = event.words === last?.words && last.row.isConnected ? last : null;
  const row = line(event);
  if (again) {
    find(row, ".grow").append(` This happened ${again.count + 1} times, first at ${again.first}.`);
    again.row.replaceWith(row);
  } else at("history").prepend(row);
  const first = again ? again.first : exactly(new Date(event.at * 1000));
  last = { words: event.words, count: again ? again.count + 1 : 1, row, first };
}

/** @param {Line & { kind: string }} event */
export function report(event) {
  if (event.kind === "incident" && event.serious) incidents += 1;
  if (event.words) add(event);
  while (at("history").children.length > MOST_LINES) at("history").lastElementChild?.remove();
  showIncidents();
}

/** One line that says where the job would go on, renewed in place. */
export function showPlace() {
  const row = findOptional(document, "[data-place]");
  if (state.status !== "running" || !state.tick) return row?.remove();
  const kept = line({ at: Date.now() / 1000, words: `Round ${whole(state.tick)}: place kept. If anything stops, the job goes on from here.` });
  kept.dataset.place = "";
  kept.setAttribute("aria-live", "off");
  row?.remove();
  return at("history").prepend(kept);
}
