// The review of changed game data: what is typed here is kept like in the table, until it is saved or given up.
import { TypedNumbers, warnWhereNothingIsKept } from "./typed_numbers.js";

const form = document.querySelector("[data-typed-numbers]");
const version = Number(form.dataset.version);
const typed = new TypedNumbers(form.dataset);
const names = [...form.elements].map((field) => field.name).filter((name) => name.startsWith("v:"));
const paths = names.map((name) => name.slice("v:".length));
/** The kept rows that this page is about. */
const rows = () => Object.keys(typed.rows).filter((row) => paths.some((path) => path === row || path.startsWith(`${row}.`)));

form.addEventListener("input", ({ target }) => {
  const row = target.closest("[data-row]");
  if (!row) return;
  const texts = { ...typed.rows[row.dataset.row]?.texts, [target.name.slice("v:".length)]: target.value };
  typed.keep(row.dataset.row, { table: row.dataset.table, version, texts });
});
form.addEventListener("submit", ({ submitter }) => submitter?.value === "save" && typed.sent(rows(), version));
form.querySelector("[data-give-up]").addEventListener("click", () => typed.forget(rows()));
warnWhereNothingIsKept(typed);
typed.sent(rows(), 0); // who sees this page saved nothing yet
