// Forms that keep what is typed until it is saved, started or given up, and offer it back: lineup rules, objectives, new jobs.
import { closest, find, findAll, findOptional } from "./elements.js";
import { TypedNumbers, warnWhereNothingIsKept } from "./typed_numbers.js";

const form = find(document, "[data-typed-form]", HTMLFormElement);
const note = find(form, "[data-typed-note]");
const { keys: listed = "", kind = "" } = form.dataset;
const keys = listed.split(" "); // this version's, then those of the versions before it
const version = Number(form.dataset.version);
const typed = new TypedNumbers(form.dataset);
const OF_THE_PAGE = new Set(["csrfmiddlewaretoken", "base", "once", "open"]); // nobody types these
const refused = "refused" in form.dataset; // the page shows what was typed and could not be saved
if (!refused) form.reset(); // a browser that goes back fills the fields by itself

/** What the fields say; pieces that are ticked under one name stand on a line each. Files cannot be kept. */
function texts() {
  const data = new FormData(form);
  const names = [...new Set(data.keys())].filter((name) => !OF_THE_PAGE.has(name) && typeof data.get(name) === "string");
  return Object.fromEntries(names.map((name) => [name, data.getAll(name).join("\n")]));
}

const atFirst = texts();
/** @param {Record<string, string>} found */
const isAtFirst = (found) =>
  [...new Set([...Object.keys(found), ...Object.keys(atFirst)])].every((name) => (found[name] ?? "") === (atFirst[name] ?? ""));

function keep() {
  const now = texts();
  typed.forget(keys.slice(1));
  typed.keep(keys[0], { table: kind, version, texts: isAtFirst(now) && !refused ? {} : now });
}

/** Fill the fields. The server draws rows of which one may have been added, moved or removed.
 * @param {Record<string, string>} found */
function fill(found) {
  const rows = findOptional(form, "[data-drawn-rows]");
  fillFields(found, rows);
  if (!rows) return;
  window.htmx.trigger(rows, "htmx:abort"); // what a filled field had the rows drawn for does not have these texts
  const values = { ...found, action: "draw" };
  void window.htmx.ajax("POST", location.pathname, { target: rows, swap: "outerHTML", select: `#${rows.id}`, values });
}

/** All fields but those in rows that the server draws.
 * @param {Record<string, string>} found @param {HTMLElement | null} rows */
function fillFields(found, rows) {
  /** @template {Element} E @param {string} selector @param {new () => E} kind */
  const fields = (selector, kind) => findAll(form, selector, kind).filter((input) => !rows?.contains(input));
  for (const input of fields("input[type=checkbox], input[type=radio]", HTMLInputElement)) {
    input.checked = (found[input.name] ?? "").split("\n").includes(input.value);
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const text of fields("input:not([type=checkbox], [type=radio], [type=file])", HTMLInputElement)) text.value = found[text.name] ?? text.value;
  for (const text of fields("textarea", HTMLTextAreaElement)) text.value = found[text.name] ?? text.value;
  for (const choice of fields("select", HTMLSelectElement)) {
    choice.value = found[choice.name] ?? choice.value;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const fold of findAll(form, "details", HTMLDetailsElement)) {
    if (findAll(fold, "input.form-control", HTMLInputElement).some((text) => text.value !== text.defaultValue)) fold.open = true;
  }
  form.dispatchEvent(new Event("change")); // the verdict is about what the fields say now
}

function offer() {
  const key = keys.find((each) => typed.rows[each]);
  if (!key) return;
  const kept = typed.rows[key];
  if (isAtFirst(kept.texts)) {
    typed.forget([key]);
    return;
  }
  const undone = "versionsAreOwn" in form.dataset ? "not started" : "not saved";
  find(note, "span").textContent = `Typed earlier${key === keys[0] ? "" : " on an earlier version"}, ${undone}`;
  note.hidden = false;
  fill(kept.texts);
}

find(note, "button").addEventListener("click", () => {
  fill(atFirst);
  typed.forget(keys);
  note.hidden = true;
  find(form, "input.form-control").focus();
});
let sending = false;
for (const typing of ["input", "change"]) {
  form.addEventListener(typing, () => {
    sending = false;
    keep();
  });
}
// An objective was added, moved or removed. What is on its way to be saved stays so when a late answer is drawn.
document.addEventListener("htmx:afterSwap", () => sending || keep());
form.addEventListener("submit", () => {
  sending = true;
  typed.sent(keys, version);
});
form.addEventListener("click", ({ target }) => closest(target, "[data-give-up]") && typed.forget(keys));
warnWhereNothingIsKept(typed);
const [arrival] = performance.getEntriesByType("navigation");
// Only what was saved is redirected from its form to a newer version. Where a person's own are counted, any newer one tells.
const redirected = arrival instanceof PerformanceNavigationTiming && arrival.redirectCount > 0;
if (redirected || "versionsAreOwn" in form.dataset) typed.forgetSaved(version);
typed.sent(keys, 0);
if (refused) keep();
else offer();
