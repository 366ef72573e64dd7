// How the search looks: the parts of the form that belong to the chosen method, and the question's objectives in its menus.

/** Show the parts that the chosen method has, and its name in the closed menu's line. */
export function showMethod(form) {
  const chosen = form.querySelector('[name="algorithm"]:checked');
  const parts = new Set(["stop", ...chosen.dataset.parts.split(" ")]);
  for (const part of form.querySelectorAll("[data-part]")) part.hidden = !parts.has(part.dataset.part);
  const usual = Boolean(chosen.closest(".choice").querySelector(".effort-time"));
  form.querySelector("[data-method-now]").textContent = usual ? `${chosen.dataset.title}, the usual way` : chosen.dataset.title;
}

/** The objectives of the question in the menus that ask for one; what was chosen stays chosen where it still exists. */
export function offerObjectives(form, objectives) {
  for (const menu of form.querySelectorAll("[data-objectives]")) {
    const wanted = menu.options.length > 1 ? menu.value : menu.dataset.chosen;
    const offered = [new Option(menu.dataset.objectives, ""), ...objectives.map(({ name, title }) => new Option(title, name))];
    menu.replaceChildren(...offered);
    menu.value = objectives.some(({ name }) => name === wanted) ? wanted : "";
  }
}
