// The game data page: what is typed into the rows is kept until it is saved, and offered back to whoever left.
import { TypedNumbers, warnWhereNothingIsKept } from "./typed_numbers.js";

const page = document.querySelector("[data-typed-numbers]");
const version = Number(page.dataset.version);
const typed = new TypedNumbers(page.dataset);
const fields = (row) => [...row.querySelectorAll(".cell-input")];
const keyOf = (row) => row.id.slice("row-".length);
const pathOf = (field) => field.name.slice("v:".length);

function keep(row) {
  const changed = fields(row).filter((field) => field.value !== field.defaultValue);
  const texts = Object.fromEntries(changed.map((field) => [pathOf(field), field.value]));
  typed.keep(keyOf(row), { table: page.dataset.table, version, texts });
}

/** Put what was typed back into an open row. What the data says by now is not offered. */
function offer(row) {
  const kept = typed.rows[keyOf(row)];
  if (!kept || row.querySelector("[data-typed-note]")) return;
  for (const field of fields(row)) field.value = kept.texts[pathOf(field)] ?? field.value;
  if (fields(row).every((field) => field.value === field.defaultValue)) return typed.forget([keyOf(row)]);
  const note = document.getElementById("typed-earlier").content.firstElementChild.cloneNode(true);
  const on = kept.version === version ? "" : ` on version ${kept.version}`;
  note.querySelector("span").textContent = `Typed earlier${on}, not saved`;
  note.querySelector("button").addEventListener("click", () => takeBack(row, note));
  row.querySelector("th").append(note);
}

function takeBack(row, note) {
  for (const field of fields(row)) field.value = field.defaultValue;
  typed.forget([keyOf(row)]);
  note.remove();
  fields(row)[0].focus();
}

/** Open the rows of this table that something was typed into; rows of the other tables are counted beside their names. */
function offerAll() {
  const elsewhere = {};
  for (const [key, { table }] of Object.entries(typed.rows)) {
    const row = document.getElementById(`row-${key}`);
    if (table !== page.dataset.table) elsewhere[table] = (elsewhere[table] ?? 0) + 1;
    else if (row?.matches(".editing")) offer(row);
    else if (row) window.htmx.ajax("GET", `${row.querySelector(".row-edit").getAttribute("hx-get")}&back=1`, { target: row, swap: "outerHTML" });
    else typed.forget([key]); // the game has no such piece any more
  }
  for (const [table, count] of Object.entries(elsewhere)) {
    const words = Object.assign(document.createElement("span"), { className: "not-saved", textContent: ` ${count} not saved` });
    page.querySelector(`[data-tab="${CSS.escape(table)}"]`)?.append(words);
  }
}

page.addEventListener("input", (event) => {
  const row = event.target.closest(".editing");
  if (row) keep(row);
});
page.addEventListener("click", (event) => {
  const row = event.target.closest(".editing .row-edit")?.closest(".editing");
  if (row) typed.forget([keyOf(row)]);
}, true); // before htmx takes the row away
document.addEventListener("htmx:load", ({ detail }) => detail.elt.matches?.("tr.editing") && offer(detail.elt));
warnWhereNothingIsKept(typed);
typed.forgetSaved(version);
offerAll();
