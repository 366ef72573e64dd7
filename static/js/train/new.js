// The Train-an-agent page and the one that searches for good settings. Whatever changes is sent to the server, which keeps it as a draft and answers with what the
// page shows: what can be chosen now, what is wrong at which field, and how long it will take.
import { listen } from "../events.js";
import { when } from "../time.js";
import { toast } from "../toast.js";

const form = document.querySelector("[data-train]");
const at = (name, root = document) => root.querySelector(`[data-${name}]`);
const WAIT_MS = 350;
const BESIDE = ["gymnasium", "atari", "simulator"];
let trial = null;
let number = 0;

/* ---------- asking ---------- */
function filled(extra) {
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
  const again = id ? document.getElementById(id) : name && form.querySelector(`[name="${name}"][value="${CSS.escape(value)}"]`);
  again?.focus({ preventScroll: true });
  if (typeof caret === "number") again?.setSelectionRange?.(caret, caret);
  if (answer.errors.algorithm) changed(); // another algorithm stands in for one that does not fit: ask about that one
}

function showErrors(errors) {
  for (const place of document.querySelectorAll("[data-errors]")) {
    const found = errors[place.dataset.errors] ?? [];
    place.replaceChildren(
      ...found.map((text) => {
        const made = document.getElementById("field-error").content.firstElementChild.cloneNode(true);
        made.querySelector("span").textContent = text;
        return made;
      }),
    );
    place.closest(".field")?.classList.toggle("field-invalid", found.length > 0);
    const input = place.dataset.errors && form.elements[place.dataset.errors];
    if (input instanceof Element) input.setAttribute("aria-invalid", String(found.length > 0));
    if (found.length && place.closest("details")) place.closest("details").open = true;
  }
}

function show(answer) {
  showParts(answer);
  showErrors(answer.errors);
  if (answer.kept) {
    at("kept").hidden = false;
    at("kept-at").textContent = when(new Date(answer.kept));
    at("forget").hidden = false;
  }
  trial = answer.trial;
  const { time, note, long } = answer.before;
  at("time").textContent = time;
  at("note").textContent = note;
  if (at("long")) {
    at("long").textContent = long;
    at("long").hidden = !long;
    at("again").hidden = !answer.failed;
  }
  if (answer.name) form.elements.title.placeholder = answer.name;
  form.elements.steps.placeholder = answer.steps;
}

function showBeside() {
  for (const name of BESIDE) document.querySelector(`[data-beside="${name}"]`).hidden = form.elements.game.value !== name;
  if (at("staleness")) at("staleness").hidden = form.elements.sampling.value !== "asynchronous";
}

/* ---------- what people do ---------- */
form.addEventListener("input", () => {
  showBeside();
  changed();
});
at("again")?.addEventListener("click", () => ask({ again: 1 }));
form.addEventListener("submit", () => {
  clearTimeout(due);
  due = 0;
  at("start").setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", (event) => event.persisted && at("start").removeAttribute("aria-busy"));
window.addEventListener("pagehide", () => {
  if (due) navigator.sendBeacon(form.dataset.preview, filled({ keep: 1 }));
});

const ENDED = new Set(["finished", "stopped", "failed", "paused"]);
listen(form.dataset.events, ({ type, data }) => {
  if (trial === null) return;
  if (type === "event" && data.job === trial && ENDED.has(data.status)) ask();
  if (type === "snapshot" && data.jobs.some((job) => job.job === trial && ENDED.has(job.status))) ask();
});

const wrong = document.getElementById("train-errors");
ask().then(() => wrong && showErrors(JSON.parse(wrong.textContent)));
