// The game data page: what is typed into the rows is kept until it is saved, and offered back to whoever left.
import { TypedNumbers, warnWhereNothingIsKept } from "./typed_numbers.js";

import { closest, copyOf, find, findAll, findOptional, make } from "./elements.js";

const page = find(document, "[data-typed-numbers]");
const version = Number(page.dataset.version);
const typed = new TypedNumbers(page.dataset);
const { table: shown = "" } = page.dataset;
/** @param {Element} row */
const fields = (row) => findAll(row, ".cell-input", HTMLInputElement);
/** @param {Element} row */
const keyOf = (row) => row.id.slice("row-".length);
/** @param {HTMLInputElement} field */
const pathOf = (field) => field.name.slice("v:".length);

/** @param {Element} row */
function keep(row) {
  const changed = fields(row).filter((field) => field.value !== field.defaultValue);
  const texts = Object.fromEntries(changed.map((field) => [pathOf(field), field.value]));
  typed.keep(keyOf(row), { table: shown, version, texts });
}

/** Put what was typed back into an open row. What the data says by now is not offered.
 * @param {Element} row */
function offer(row) {
  const kept = typed.rows[keyOf(row)];
  if (!kept || row.querySelector("[data-typed-note]")) return;
  for (const field of fields(row)) field.value = kept.texts[pathOf(field)] ?? field.value;
  if (fields(row).every((field) => field.value === field.defaultValue)) {
    typed.forget([keyOf(row)]);
    return;
  }
  const note = copyOf("typed-earlier");
  const on = kept.version === version ? "" : ` on version ${kept.version}`;
  find(note, "span").textContent = `Typed earlier${on}, not saved`;
  find(note, "button").addEventListener("click", () => takeBack(row, note));
  find(row, "th").append(note);
}

/** @param {Element} row @param {HTMLElement} note */
function takeBack(row, note) {
  for (const field of fields(row)) field.value = field.defaultValue;
  typed.forget([keyOf(row)]);
  note.remove();
  fields(row)[0].focus();
}

/** Open the rows of this table that something was typed into; rows of the other tables are counted beside their names. */
function offerAll() {
  /** @type {Record<string, number>} */
  const elsewhere = {};
  for (const [key, { table }] of Object.entries(typed.rows)) {
    const row = document.getElementById(`row-${key}`);
    if (table !== shown) elsewhere[table] = (elsewhere[table] ?? 0) + 1;
    else if (row?.matches(".editing")) offer(row);
    else if (row) window.htmx.ajax("GET", `${find(row, ".row-edit").getAttribute("hx-get")}&back=1`, { target: row, swap: "outerHTML" });
    else typed.forget([key]); // the game has no such piece any more
  }
  for (const [table, count] of Object.entries(elsewhere)) {
    const words = make("span", { class: "not-saved" }, ` ${count} not saved`);
    findOptional(page, `[data-tab="${CSS.escape(table)}"]`)?.append(words);
  }
}

// A row that was just opened bears the classes of the closed one until htmx has settled it: its fields tell that it is open.
page.addEventListener("input", ({ target }) => {
  const row = closest(target, ".cell-input")?.closest("tr");
  if (row) keep(row);
});
page.addEventListener("click", ({ target }) => {
  const row = closest(target, ".row-edit")?.closest("tr");
  if (row && fields(row).length) typed.forget([keyOf(row)]);
}, true); // before htmx takes the row away
document.addEventListener("htmx:load", ({ detail }) => detail.elt.matches("tr.editing") && offer(detail.elt));
warnWhereNothingIsKept(typed);
typed.forgetSaved(version);
offerAll();
