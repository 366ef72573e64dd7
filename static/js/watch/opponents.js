// The form of battles to watch: of the opponents, those alone are offered that can play the game of whoever is ticked.
import { closest, embedded, field, find, findAll } from "../elements.js";

/** The game of each agent, and who can play it. @typedef {{ games: Record<string, string>, rivals: Record<string, string[]> }} Rivals */

/** @type {Rivals} */
const { games, rivals } = embedded("watch-rivals");
const form = closest(find(document, "input[name=agents]", HTMLInputElement), "form", HTMLFormElement);

/** @param {HTMLFormElement} form */
function narrow(form) {
  const ticked = findAll(form, "input[name=agents]", HTMLInputElement).find((box) => box.checked);
  const able = ticked ? new Set(rivals[games[ticked.value]]) : null;
  const select = field(form, "opponent", HTMLSelectElement);
  for (const option of select.options) option.hidden = option.disabled = able !== null && !able.has(option.value);
  for (const group of findAll(select, "optgroup", HTMLOptGroupElement)) group.hidden = [...group.children].every((option) => /** @type {HTMLOptionElement} */ (option).hidden);
  if (select.selectedOptions[0]?.disabled) select.value = [...select.options].find((option) => !option.disabled)?.value ?? "";
}

if (form) {
  form.addEventListener("change", ({ target }) => target instanceof HTMLInputElement && target.name === "agents" && narrow(form));
  window.addEventListener("pageshow", () => narrow(form)); // the browser ticks again what was ticked
  narrow(form);
}
