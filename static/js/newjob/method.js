// How a search looks: the parts of the form that belong to the chosen method, and menus whose choices depend on the rest
// of the form, such as the objectives of the question.

import { closest, find, findAll } from "../elements.js";

/** Show the parts that the chosen method has, and its name in the closed menu's line.
 * @param {HTMLFormElement} form */
export function showMethod(form) {
  const menu = find(form, "[data-method]");
  const chosen = find(menu, "[data-parts]:checked");
  const parts = new Set(["stop", ...(chosen.dataset.parts ?? "").split(" ")]);
  for (const part of findAll(menu, "[data-part]")) part.hidden = !parts.has(part.dataset.part ?? "");
  const usual = Boolean(closest(chosen, ".choice")?.querySelector(".effort-time"));
  find(menu, "[data-method-now]").textContent = usual ? `${chosen.dataset.title}, the usual way` : (chosen.dataset.title ?? "");
}

/** What can be chosen now in the menus that ask for that kind of thing; what was chosen stays so where it still exists,
 * and with ``keep`` even where it does not.
 * @param {HTMLFormElement} form
 * @param {string} kind
 * @param {{ name: string, title: string }[]} things
 * @param {{ keep?: boolean }} [options] */
export function offer(form, kind, things, { keep = false } = {}) {
  for (const menu of findAll(form, `[data-offers="${kind}"]`, HTMLSelectElement)) {
    const wanted = menu.options.length > 1 ? menu.value : (menu.dataset.chosen ?? "");
    const known = things.some(({ name }) => name === wanted);
    const gone = keep && wanted && !known ? [new Option(wanted, wanted)] : [];
    const blank = menu.dataset.blank ? [new Option(menu.dataset.blank, "")] : [];
    menu.replaceChildren(...blank, ...things.map(({ name, title }) => new Option(title, name)), ...gone);
    menu.value = known || keep ? wanted : "";
  }
}
