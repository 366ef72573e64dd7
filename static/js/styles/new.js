// The page that breeds styles of play, beside what it does as every page that trains (train/new.js): pictures of what
// formulas are worth follow what is typed, names are written into formulas, and a scale's formulas can be gone on with.
import { closest, find, findAll, findOptional } from "../elements.js";

/** @typedef {{ pictures: Record<string, string>, balance: string, weights: string, ways: string, style_weight: string, errors: Record<string, string[]> }} Answer */

const form = find(document, "[data-train]", HTMLFormElement);

form.addEventListener("answered", (event) => {
  if (!(event instanceof CustomEvent)) return;
  const { pictures, balance, weights, ways, style_weight, errors } = /** @type {Answer} */ (event.detail);
  for (const place of findAll(form, "[data-picture]")) {
    const name = place.dataset.picture ?? "";
    if (pictures[name] !== undefined) place.innerHTML = pictures[name];
    // A formula that cannot be read keeps its last picture, paler.
    place.classList.toggle("style-error", pictures[name] === undefined || Boolean(errors[name]));
  }
  find(form, "[data-balance]").textContent = balance;
  find(form, "[data-weights]").textContent = weights;
  find(form, '[name="behaviour"]', HTMLInputElement).placeholder = ways;
  const begin = beginning();
  begin?.setAttribute("data-fill-w2", style_weight);
  if (begin) begin.disabled = false;
});

/* ---------- names ---------- */
/** The formula that somebody typed into last, of those that the name belongs to.
 * @type {Record<string, string>} */
const last = {};
/** @param {string} name */
const groupOf = (name) => (name.startsWith("goal-") ? "goal-1" : "style");

form.addEventListener("focusin", ({ target }) => {
  if (target instanceof HTMLInputElement && target.matches("[data-formula]")) last[groupOf(target.name)] = target.name;
});

/** Write a name where the caret is, or was.
 * @param {string} word @param {string} into */
function write(word, into) {
  const input = findOptional(form, `[data-formula][name="${last[into] ?? into}"]`, HTMLInputElement);
  if (!input) return;
  const at = input.selectionStart ?? input.value.length;
  const before = input.value.slice(0, at);
  const gap = before && !/[\s(]$/.test(before) ? " " : "";
  input.setRangeText(gap + word, at, input.selectionEnd ?? at, "end");
  input.focus();
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

/* ---------- a scale's formulas as one's own ---------- */
const weight = find(form, '[name="w2"]', HTMLInputElement);
/** There where a scale is chosen. */
const beginning = () => findOptional(form, "[data-write]", HTMLButtonElement);

/** The job stays the same: what the scale weighs, and tells agents apart by, is written down beside its formulas.
 * @param {HTMLButtonElement} button */
function goOn(button) {
  const typed = weight.value;
  for (const { name, value } of button.attributes) {
    if (!name.startsWith("data-fill-")) continue;
    find(form, `[name="${name.slice("data-fill-".length)}"]`, HTMLInputElement).value = value;
  }
  if (typed) weight.value = typed;
  const numbers = weight.closest("details");
  if (numbers) numbers.open = true;
  const own = find(form, '[name="scale"][value="own"]', HTMLInputElement);
  own.checked = true;
  own.focus({ preventScroll: true });
  own.dispatchEvent(new Event("input", { bubbles: true }));
}

find(form, '[name="matters"]', HTMLInputElement).addEventListener("input", () => {
  // Whoever moves the slider wants it to hold, not a number beside it.
  weight.value = "";
  // The weight that it stands for is known with the next answer.
  const begin = beginning();
  if (begin) begin.disabled = true;
});

form.addEventListener("click", ({ target }) => {
  const word = closest(target, "[data-word]");
  if (word) write(word.dataset.word ?? "", word.dataset.into ?? "");
  const begin = closest(target, "[data-write]");
  if (begin instanceof HTMLButtonElement) goOn(begin);
});
