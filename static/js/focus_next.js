// After something was sent or chosen, the keyboard stays where the work goes on, not at the top of the page. A form or a link
// says where with data-then-focus, a selector on the next page; the server says it with data-focus-here in its answer. Without
// either it is the heading of the part of the page in which the form stood, or of the page that it led to.
import { closest, findOptional } from "./elements.js";

const KEPT = "equipoise-focus";

/** @param {HTMLElement} element */
function focus(element) {
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus();
}

const nowhere = () => document.activeElement === null || document.activeElement === document.body;

/** @param {(string | undefined)[]} places */
function remember(places) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ places: places.filter(Boolean) }));
  } catch {
    // where the browser keeps nothing, the next page begins at its top
  }
}

function remembered() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    sessionStorage.removeItem(KEPT);
    return kept;
  } catch {
    return null;
  }
}

/** The first wrong box of a table of boxes, whose name in the list above the form would not be enough to find it by. */
const wrong = () => findOptional(document, '[data-focus-wrong] [aria-invalid="true"]');

/** What the answer itself says: the first field that is wrong, or the place that it marks. */
const marked = () => findOptional(document, '[data-focus-here][aria-invalid="true"]') ?? findOptional(document, "[data-focus-here]");

/** @param {string[]} places */
const first = (places) => places.map((place) => findOptional(document, place)).find((found) => found?.checkVisibility()) ?? null;

/** @param {{ places: string[] } | null} kept */
function goOn(kept) {
  const problem = wrong() ?? findOptional(document, "[data-form-problem]") ?? marked();
  if (problem) focus(problem);
  else if (kept && nowhere()) {
    const found = first(kept.places) ?? first(["h1"]);
    if (found) focus(found);
  }
}

export function watchFocus() {
  document.addEventListener("submit", (event) => {
    const form = closest(event.target, "main form", HTMLFormElement);
    if (!form || event.defaultPrevented || form.method !== "post") return;
    const heading = closest(form, "section[aria-labelledby]")?.getAttribute("aria-labelledby");
    remember([form.dataset.thenFocus, heading ? `#${CSS.escape(heading)}` : undefined]);
  });
  document.addEventListener("click", (event) => {
    const link = closest(event.target, "a[data-then-focus]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) remember([link.dataset.thenFocus]);
  });
  document.addEventListener("htmx:afterSettle", () => {
    const here = nowhere() && marked();
    if (here) focus(here);
  });
  const kept = remembered();
  // A browser that is led to a part of a page looks for it once the page is there, and takes the focus from anything else.
  if (location.hash && document.readyState !== "complete") window.addEventListener("load", () => setTimeout(() => goOn(kept)));
  else goOn(kept);
}
