// How a search looks: the parts of the form that belong to the chosen method, and menus whose choices depend on the rest
// of the form, such as the objectives of the question.

/** Show the parts that the chosen method has, and its name in the closed menu's line. */
export function showMethod(form) {
  const menu = form.querySelector("[data-method]");
  const chosen = menu.querySelector("[data-parts]:checked");
  const parts = new Set(["stop", ...chosen.dataset.parts.split(" ")]);
  for (const part of menu.querySelectorAll("[data-part]")) part.hidden = !parts.has(part.dataset.part);
  const usual = Boolean(chosen.closest(".choice").querySelector(".effort-time"));
  menu.querySelector("[data-method-now]").textContent = usual ? `${chosen.dataset.title}, the usual way` : chosen.dataset.title;
}

/** What can be chosen now in the menus that ask for that kind of thing; what was chosen stays so where it still exists,
 * and with ``keep`` even where it does not. */
export function offer(form, kind, things, { keep = false } = {}) {
  for (const menu of form.querySelectorAll(`[data-offers="${kind}"]`)) {
    const wanted = menu.options.length > 1 ? menu.value : menu.dataset.chosen;
    const known = things.some(({ name }) => name === wanted);
    const gone = keep && wanted && !known ? [new Option(wanted, wanted)] : [];
    const blank = menu.dataset.blank ? [new Option(menu.dataset.blank, "")] : [];
    menu.replaceChildren(...blank, ...things.map(({ name, title }) => new Option(title, name)), ...gone);
    menu.value = known || keep ? wanted : "";
  }
}
