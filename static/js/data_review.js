// The review of changed game data: what is typed here is kept like in the table, until it is saved or given up.
import { TypedNumbers, warnWhereNothingIsKept } from "./typed_numbers.js";

import { closest, find } from "./elements.js";

const form = find(document, "[data-typed-numbers]", HTMLFormElement);
const version = Number(form.dataset.version);
const typed = new TypedNumbers(form.dataset);
const names = [...new FormData(form).keys()].filter((name) => name.startsWith("v:"));
const paths = names.map((name) => name.slice("v:".length));
/** The kept rows that this page is about. */
const rows = () => Object.keys(typed.rows).filter((row) => paths.some((path) => path === row || path.startsWith(`${row}.`)));

form.addEventListener("input", ({ target }) => {
  const { row, table = "" } = closest(target, "[data-row]")?.dataset ?? {};
  if (row === undefined || !(target instanceof HTMLInputElement)) return;
  const texts = { ...typed.rows[row]?.texts, [target.name.slice("v:".length)]: target.value };
  typed.keep(row, { table, version, texts });
});
form.addEventListener("submit", ({ submitter }) => {
  if (submitter instanceof HTMLButtonElement && submitter.value === "save") typed.sent(rows(), version);
});
find(form, "[data-give-up]").addEventListener("click", () => typed.forget(rows()));
warnWhereNothingIsKept(typed);
typed.sent(rows(), 0); // who sees this page saved nothing yet
