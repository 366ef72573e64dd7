// What is wrong in a form, shown at the fields that it is about; "" stands for the form as a whole.
import { closest, copyOf, find, findAll } from "./elements.js";

/** @param {string} text */
const line = (text) => {
  const made = copyOf("field-error");
  find(made, "span").textContent = text;
  return made;
};

/** Show these errors (field name to sentences), and take away those that were shown before; folds around them open.
 * @param {HTMLFormElement} form @param {Record<string, string[]>} errors */
export function showErrors(form, errors) {
  for (const place of findAll(document, "[data-errors]")) {
    const name = place.dataset.errors ?? "";
    const found = errors[name] ?? [];
    place.replaceChildren(...found.map(line));
    if (name) place.closest(".field, .line-side")?.classList.toggle("field-invalid", found.length > 0);
    const input = name && form.elements.namedItem(name);
    if (input instanceof Element) input.setAttribute("aria-invalid", String(found.length > 0));
    if (!place.children.length) continue;
    for (let fold = place.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null) fold.open = true;
    for (const hidden of ["[data-method] [data-part]", "[data-goal-row]"]) {
      const around = closest(place, hidden);
      if (around) around.hidden = false;
    }
  }
}
