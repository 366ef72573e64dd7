// The history of a job as people read it, newest first.
import { plural, whole } from "../charts/format.js";
import { at, page, state } from "./state.js";

const MOST_LINES = 60;
const exact = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
let incidents = 0;

function line({ at: when, words, serious, waits }) {
  const template = document.getElementById(serious ? "history-row-serious" : waits ? "history-row-waits" : "history-row");
  const row = template.content.firstElementChild.cloneNode(true);
  const stamp = new Date(when * 1000);
  row.querySelector("time").textContent = exact.format(stamp);
  row.querySelector("time").dateTime = stamp.toISOString();
  const [, head, rest] = words.match(/^(.*?[.:])(?=\s|$)(.*)$/s) ?? [null, words, ""];
  const text = row.querySelector(".grow");
  if (serious) text.append(Object.assign(document.createElement("b"), { textContent: head }), rest);
  else text.textContent = words;
  return row;
}

export function showIncidents() {
  at("incidents").textContent = incidents ? `${plural(incidents, "incident")}${state.status === "failed" || page.in_step === false ? "" : ", no result changed"}` : "";
}

let last = { words: "", count: 0, row: null };
/** A new line at the top; one that says what the line below it says is counted there instead. */
function add(event) {
  const again = event.words === last.words && last.row.isConnected;
  const row = line(event);
  if (again) row.querySelector(".grow").append(` ${last.count + 1} times, the first at ${last.first}.`);
  if (again) last.row.replaceWith(row);
  else at("history").prepend(row);
  const first = again ? last.first : exact.format(new Date(event.at * 1000));
  last = { words: event.words, count: again ? last.count + 1 : 1, row, first };
}

export function told(event) {
  if (event.kind === "incident" && event.serious) incidents += 1;
  if (event.words) add(event);
  while (at("history").children.length > MOST_LINES) at("history").lastElementChild.remove();
  showIncidents();
}

/** One line that says where the job would go on, renewed in place. */
export function showPlace() {
  const row = document.querySelector("[data-place]");
  if (state.status !== "running" || !state.tick) return row?.remove();
  const kept = line({ at: Date.now() / 1000, words: `Round ${whole(state.tick)}: place kept. If anything stops, the job goes on from here.` });
  kept.dataset.place = "";
  kept.setAttribute("aria-live", "off");
  row?.remove();
  return at("history").prepend(kept);
}
