// The Train-an-agent page and the one that searches for good settings. Whatever changes is sent to the server, which
// keeps it as a draft and answers with what the page shows: what can be chosen now, what is wrong at which field, and
// how long it will take.
import { embedded, field, find, findAll, findOptional, valueOf } from "../elements.js";
import { listen } from "../events.js";
import { showErrors } from "../field_errors.js";
import { offer, showMethod } from "../newjob/method.js";
import { startsFrom } from "../starting.js";
import { when } from "../time.js";
import { toast } from "../toast.js";

/** @typedef {{ name: string, title: string }} Choice */
/** What the server says of the form as it is now; `html`: the parts whose choices changed, when `shape` did.
 * @typedef {object} Answer
 * @property {Record<string, string[]>} errors
 * @property {string} shape
 * @property {Record<string, string>} html
 * @property {string} [kept]
 * @property {{ measures: Choice[], objectives: Choice[] }} [offers]
 * @property {number | null} trial
 * @property {{ time: string, note: string, long: string }} before
 * @property {boolean} failed
 * @property {{ held: string, react: string, pace: string }} hands
 * @property {string} name
 * @property {string} steps */

const form = find(document, "[data-train]", HTMLFormElement);
const { preview = "", events = "" } = form.dataset;
/** @param {string} name */
const at = (name) => find(document, `[data-${name}]`);
const panel = find(document, ".before");
const WAIT_MS = 350;
const BESIDE = ["gymnasium", "atari", "simulator"];
/** @type {number | null} */
let trial = null;
let number = 0;

/* ---------- asking ---------- */
/** @param {Record<string, number>} [extra] */
function filled(extra = {}) {
  const data = new FormData(form);
  for (const [name, value] of Object.entries(extra)) data.set(name, String(value));
  return data;
}

/** @param {Record<string, number>} [extra] */
async function ask(extra = {}) {
  const mine = (number += 1);
  panel.classList.add("unsettled");
  const answer = await fetch(preview, { method: "POST", body: filled(extra) }).catch(() => null);
  if (mine !== number) return;
  panel.classList.remove("unsettled");
  if (!answer?.ok) {
    const gone = answer && [401, 403, 404].includes(answer.status);
    const wrong = answer?.status === 400 ? (await answer.json()).error : "";
    toast(wrong || (gone ? "Sign in again to go on; what you typed is kept up to the last change." : "The site does not answer. What you typed is still here."), { problem: true });
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
/** Draw anew what can be chosen, when that has changed; whoever is in the middle of it stays there.
 * @param {Answer} answer */
function showParts(answer) {
  if (answer.shape === shape || due) return; // while somebody types, the next answer is on its way
  shape = answer.shape;
  const focused = document.activeElement;
  const caret = isText(focused) ? focused.selectionStart : null;
  for (const [part, html] of Object.entries(answer.html)) find(document, `[data-part="${part}"]`).innerHTML = html;
  const again = focused && twin(focused);
  again?.focus({ preventScroll: true });
  if (caret !== null && isText(again)) again.setSelectionRange(caret, caret);
  if (answer.errors.algorithm) changed(); // another algorithm stands in for one that does not fit: ask about that one
}

/** @param {Element | null} field @returns {field is HTMLInputElement | HTMLTextAreaElement} */
const isText = (field) => field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;

/** What stands now where this field stood.
 * @param {Element} field */
function twin(field) {
  if (field.id) return document.getElementById(field.id);
  if (!(field instanceof HTMLInputElement && field.name)) return null; // buttons have no name
  return findOptional(form, `[name="${field.name}"][value="${CSS.escape(field.value)}"]`);
}

/** What the game will hold of the limits that were typed, and which suit it.
 * @param {Answer["hands"]} hands */
function showHands({ held, ...help }) {
  at("held").textContent = held;
  at("held").hidden = !held;
  for (const [name, text] of Object.entries(help)) find(document, `#id_${name}_notes .help`).textContent = text;
}

/** @param {Answer} answer */
function show(answer) {
  showHands(answer.hands);
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
  if (answer.name) field(form, "title").placeholder = answer.name;
  form.dispatchEvent(new CustomEvent("answered", { detail: answer })); // for the page's own parts
  field(form, "steps").placeholder = answer.steps;
}

function showBeside() {
  for (const name of BESIDE) find(document, `[data-beside="${name}"]`).hidden = valueOf(form, "game") !== name;
  const staleness = findOptional(document, "[data-staleness]");
  if (staleness) staleness.hidden = valueOf(form, "sampling") !== "asynchronous";
}

/** Whether somebody chose the algorithm here. */
let chosen = false;
/** Another game begins with the algorithm and the settings that are best for it, not with those of the game before. */
function beginAsUsual() {
  const usual = chosen ? '[name="preset"]' : '[name="preset"], [name="algorithm"]';
  for (const choice of findAll(form, usual, HTMLInputElement)) choice.checked = false;
}

/* ---------- goals, on the page that searches ---------- */
const goalRows = findAll(form, "[data-goal-row]");
const fineRows = findAll(form, "[data-goal-fine]");
const moreGoals = findOptional(form, "[data-more-goals]");
/** @param {HTMLElement} row */
const goalOf = (row) => find(row, "select", HTMLSelectElement);
/** As many rows as goals are chosen, and those that were asked for; another one while there is room. */
function showGoals(more = 0) {
  const shown = goalRows.filter((row) => !row.hidden).length + more;
  goalRows.forEach((row, i) => {
    row.hidden = i >= shown && !goalOf(row).value;
  });
  fineRows.forEach((row) => (row.hidden = goalRows[Number(row.dataset.goalFine)].hidden));
  if (moreGoals) moreGoals.hidden = shown >= goalRows.length;
}
moreGoals?.addEventListener("click", () => {
  showGoals(1);
  const row = goalRows.findLast((other) => !other.hidden);
  if (row) goalOf(row).focus();
});

/* ---------- what people do ---------- */
form.addEventListener("input", ({ target }) => {
  showBeside();
  if (target instanceof Element && target.matches("[data-parts]")) showMethod(form);
  if (target instanceof HTMLInputElement && target.name === "algorithm") chosen = true;
  if (target instanceof HTMLInputElement && target.name === "game") beginAsUsual();
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
  if (due) navigator.sendBeacon(preview, filled({ keep: 1 }));
});

const ENDED = new Set(["finished", "stopped", "failed", "paused"]);
listen(events, ({ type, data }) => {
  if (trial === null) return;
  if (type === "event" && data.job === trial && ENDED.has(data.status)) ask();
  if (type === "snapshot" && data.jobs.some((job) => job.job === trial && ENDED.has(job.status))) ask();
});

const refused = findOptional(document, "#train-errors", HTMLScriptElement) !== null;
ask().then(() => refused && showErrors(form, embedded("train-errors")));
