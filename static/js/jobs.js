// Keeps the list of jobs as it is now: any event of the project asks for it again, at most once a second.
import { keepAlike } from "./alike.js";
import { find, findAll, findOptional } from "./elements.js";
import { listen } from "./events.js";

const PAUSE_MS = 1000;
let due = 0;

listen(find(document, "script[data-events]").dataset.events ?? "", (message) => {
  if (due || message.type === "gone") return;
  due = setTimeout(() => {
    due = 0;
    window.htmx.trigger("#jobs-list", "jobs-changed"); // links carry ids, so htmx gives the focus back
  }, PAUSE_MS);
});

// Ticks for comparing outlive the list they stand in: it is asked for again whenever something happens.
/** @type {Set<string>} */
const ticked = new Set();
const COMPARED = '[form="compare-jobs"]';
const boxes = () => findAll(document, COMPARED, HTMLInputElement);
function show() {
  const label = ticked.size ? `Compare the ${ticked.size} ticked` : "Compare searches";
  find(document, "[data-compare] span").textContent = label;
  keepAlike(boxes(), findOptional(document, "[data-apart]"));
}
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.matches(COMPARED)) return;
  ticked[target.checked ? "add" : "delete"](target.value);
  show();
});
function again() {
  const shown = new Set(boxes().map((box) => box.value));
  for (const value of ticked) if (!shown.has(value)) ticked.delete(value);
  for (const box of boxes()) box.checked = ticked.has(box.value);
  show();
}
document.addEventListener("htmx:afterSwap", again);
for (const box of boxes()) if (box.checked) ticked.add(box.value); // the browser's Back button keeps ticks
again();
