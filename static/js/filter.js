// <input data-filter="ID"> shows those children of #ID (or rows of its table body) whose data-name contains the text.
import { closest, find, findAll, findOptional } from "./elements.js";

/** @param {HTMLInputElement} input */
function watch(input) {
  const list = find(document, `#${input.dataset.filter}`);
  const around = closest(list, ".card, fieldset, .picker");
  const nothing = around && findOptional(around, "[data-no-match]");
  const show = () => {
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
  };
  input.addEventListener("input", show);
  // Enter in a search box must not send the form that it happens to stand in.
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  list.addEventListener("htmx:afterSwap", show);
  show();
}

findAll(document, "[data-filter]", HTMLInputElement).forEach(watch);
