// Short notes in a polite live region. A server answers htmx with the header HX-Trigger: {"toast": {"text": "…"}};
// a module calls toast(text). Good news, with a tick, and a hint, with none, leave by themselves after ten seconds; a
// problem stays until it is closed.
import { closest, copyOf, find, findAll } from "./elements.js";

const STAY_MS = 10_000;

/** @param {HTMLElement} note */
function leaveLater(note) {
  let timer = setTimeout(() => note.remove(), STAY_MS);
  for (const name of ["pointerenter", "focusin"]) note.addEventListener(name, () => clearTimeout(timer));
  note.addEventListener("pointerleave", () => (timer = setTimeout(() => note.remove(), STAY_MS)));
}

/** @param {string} text @param {{ problem?: boolean, hint?: boolean }} [kind] */
export function toast(text, { problem = false, hint = false } = {}) {
  const note = copyOf(problem ? "toast-problem-template" : hint ? "toast-hint-template" : "toast-template");
  find(note, "p").textContent = text;
  find(document, "#toasts").append(note);
  if (!problem) leaveLater(note);
}

export function watchToasts() {
  const region = document.getElementById("toasts");
  if (!region) return;
  region.addEventListener("click", ({ target }) => closest(target, "[data-toast-close]")?.closest(".toast-note")?.remove());
  for (const note of findAll(region, ".toast-note:not([data-level=error], [data-level=warning])")) leaveLater(note);
  document.addEventListener("toast", (event) => toast(event.detail.text, { problem: event.detail.problem === true }));
  // data-background: asked for by a script, which asks again; nobody waits for it.
  /** @param {Event} event */
  const awaited = ({ target }) => !closest(target, "[data-background]");
  document.addEventListener("htmx:sendError", (event) => {
    if (awaited(event)) toast("The site did not answer. What you typed is still here; try again in a moment.", { problem: true });
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (!awaited(event)) return;
    const status = event.detail.xhr.status;
    if (status === 403) toast("Your role in this project does not allow that.", { problem: true });
    else if (status >= 500) toast("The site could not do that. It has been logged; try again in a moment.", { problem: true });
  });
}
