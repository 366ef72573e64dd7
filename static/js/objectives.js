// Objectives: pressing a number's name puts it into the formula last typed in, where the cursor stood.
import { closest, findOptional } from "./elements.js";

/** @type {HTMLInputElement | HTMLTextAreaElement | null} */
let last = formula(findOptional(document, "[data-formula]"));

/** @param {EventTarget | null} target */
function formula(target) {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return null;
  return target.matches("[data-formula]") ? target : null;
}

document.addEventListener("focusin", ({ target }) => (last = formula(target) ?? last));

document.addEventListener("click", ({ target }) => {
  const name = closest(target, "[data-insert]")?.dataset.insert;
  if (name === undefined || !last) return;
  const start = last.selectionStart ?? last.value.length;
  last.setRangeText(name, start, last.selectionEnd ?? start, "end");
  last.focus();
  last.dispatchEvent(new Event("input", { bubbles: true }));
});
