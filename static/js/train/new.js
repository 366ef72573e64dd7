// The Train-an-agent page and the one that searches for good settings. Whatever changes is sent to the server, which
// keeps it as a draft and answers with what the page shows: what can be chosen now, what is wrong at which field, and
// how long it will take.
import { listen } from "../events.js";
import { showErrors } from "../field_errors.js";
import { offer, showMethod } from "../newjob/method.js";
import { startsFrom } from "../starting.js";
import { when } from "../time.js";
import { toast } from "../toast.js";

const form = document.querySelector("[data-train]");
const at = (name, root = document) => root.querySelector(`[data-${name}]`);
const WAIT_MS = 350;
const BESIDE = ["gymnasium", "atari", "simulator"];
let trial = null;
let number = 0;

/* ---------- asking ---------- */
function filled(extra = {}) {
  const data = new FormData(form);
  for (const [name, value] of Object.entries(extra)) data.set(name, value);
  return data;
}

async function ask(extra = {}) {
  const mine = (number += 1);
  document.querySelector(".before").classList.add("unsettled");
  const answer = await fetch(form.dataset.preview, { method: "POST", body: filled(extra) }).catch(() => null);
  if (mine !== number) return;
  document.querySelector(".before").classList.remove("unsettled");
  if (!answer?.ok) {
    const gone = answer && [401, 403, 404].includes(answer.status);
    toast(gone ? "Sign in again to go on; what you typed is kept up to the last change." : "The site does not answer. What you typed is still here.", { problem: true });
    return;
  }
  show(await answer.json());
}

let due = 0;
function changed() {
  clearTimeout(due);
  due = setTimeout(() => {
    due = 0;
    ask({ keep: 1 });
  }, WAIT_MS);
}

/* ---------- showing ---------- */
let shape = form.dataset.shape;
/** Draw anew what can be chosen, when that has changed; whoever is in the middle of it stays there. */
function showParts(answer) {
  if (answer.shape === shape || due) return; // while somebody types, the next answer is on its way
  shape = answer.shape;
  const { id, name, value, selectionStart: caret } = document.activeElement;
  for (const [part, html] of Object.entries(answer.html)) document.querySelector(`[data-part="${part}"]`).innerHTML = html;
  const twin = () => (name ? form.querySelector(`[name="${name}"][value="${CSS.escape(value)}"]`) : null); // buttons have no name
  const again = id ? document.getElementById(id) : twin();
  again?.focus({ preventScroll: true });
  if (typeof caret === "number") again?.setSelectionRange?.(caret, caret);
  if (answer.errors.algorithm) changed(); // another algorithm stands in for one that does not fit: ask about that one
}

function show(answer) {
  showParts(answer);
  showErrors(form, answer.errors);
  if (answer.kept) {
    at("kept").hidden = false;
    at("kept-at").textContent = when(new Date(answer.kept));
    at("forget").hidden = false;
  }
  if (answer.offers) {
    offer(form, "measures", answer.offers.measures, { keep: true });
    offer(form, "objectives", answer.offers.objectives);
    showGoals();
  }
  trial = answer.trial;
  const { time, note, long } = answer.before;
  at("time").textContent = time;
  at("note").textContent = note;
  at("long").textContent = long;
  at("long").hidden = !long;
  at("again").hidden = !answer.failed;
  if (answer.name) form.elements.title.placeholder = answer.name;
  form.elements.steps.placeholder = answer.steps;
}

function showBeside() {
  for (const name of BESIDE) document.querySelector(`[data-beside="${name}"]`).hidden = form.elements.game.value !== name;
  if (at("staleness")) at("staleness").hidden = form.elements.sampling.value !== "asynchronous";
}

/* ---------- goals, on the page that searches ---------- */
const goalRows = [...form.querySelectorAll("[data-goal-row]")];
const fineRows = [...form.querySelectorAll("[data-goal-fine]")];
/** As many rows as goals are chosen, and those that were asked for; another one while there is room. */
function showGoals(more = 0) {
  const shown = goalRows.filter((row) => !row.hidden).length + more;
  goalRows.forEach((row, i) => {
    row.hidden = i >= shown && !row.querySelector("select").value;
  });
  fineRows.forEach((row) => (row.hidden = goalRows[Number(row.dataset.goalFine)].hidden));
  at("more-goals").hidden = shown >= goalRows.length;
}
at("more-goals")?.addEventListener("click", () => {
  showGoals(1);
  goalRows.findLast((row) => !row.hidden).querySelector("select").focus();
});

/* ---------- what people do ---------- */
form.addEventListener("input", ({ target }) => {
  showBeside();
  if (target.matches("[data-parts]")) showMethod(form);
  changed();
});
at("again").addEventListener("click", () => ask({ again: 1 }));
startsFrom(form, {
  filled,
  before: () => {
    clearTimeout(due);
    due = 0;
  },
});
window.addEventListener("pagehide", () => {
  if (due) navigator.sendBeacon(form.dataset.preview, filled({ keep: 1 }));
});

const ENDED = new Set(["finished", "stopped", "failed", "paused"]);
listen(form.dataset.events, ({ type, data }) => {
  if (trial === null) return;
  if (type === "event" && data.job === trial && ENDED.has(data.status)) ask();
  if (type === "snapshot" && data.jobs.some((job) => job.job === trial && ENDED.has(job.status))) ask();
});

const refused = document.getElementById("train-errors");
ask().then(() => refused && showErrors(form, JSON.parse(refused.textContent)));
