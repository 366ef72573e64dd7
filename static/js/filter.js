// <input data-filter="ID"> shows those children of #ID (or rows of its table body) whose data-name contains the text.
import { closest, find, findAll, findOptional } from "./elements.js";

/** @param {HTMLInputElement} input */
function show(input) {
  const list = find(document, `#${input.dataset.filter}`);
  const around = closest(list, ".card, fieldset, .picker");
  const nothing = around && findOptional(around, "[data-no-match]");
  const wanted = input.value.trim().toLowerCase();
  let left = 0;
  for (const row of findAll(list, "[data-name]")) {
    row.hidden = wanted !== "" && !row.dataset.name?.includes(wanted) && !row.classList.contains("editing");
    left += row.hidden ? 0 : 1;
  }
  for (const group of findAll(list, "[data-group]")) {
    group.hidden = !group.querySelector("[data-name]:not([hidden])");
    if (wanted && group instanceof HTMLDetailsElement && !group.hidden) group.open = true;
  }
  if (nothing) nothing.hidden = left > 0;
}

/** Boxes that find among a list, also those of forms that are loaded later. */
export function watchFilters() {
  const isOne = (/** @type {Event} */ event) => closest(event.target, "[data-filter]", HTMLInputElement);
  document.addEventListener("input", (event) => { const input = isOne(event); if (input) show(input); });
  // Enter in a search box must not send the form that it happens to stand in.
  document.addEventListener("keydown", (event) => { if (event.key === "Enter" && isOne(event)) event.preventDefault(); });
  const again = () => { findAll(document, "[data-filter]", HTMLInputElement).forEach(show); };
  document.addEventListener("htmx:afterSwap", again);
  again();
}
