// The sliders of "Try a change": slider, box and buttons show one number; the box is what is sent. The page's address holds what
// was typed, so that it stands there again after a reload, and for whoever is sent the address.
import { closest, find } from "./elements.js";

const TYPED = "v:"; // how the names of the boxes begin
const SHOWN = ["number", "piece"]; // the numbers and the pieces that are looked at

/** @param {EventTarget | null} start */
function slider(start) {
  const whole = closest(start, "[data-slider]");
  return whole && { whole, range: find(whole, "[data-range]", HTMLInputElement), box: find(whole, "[data-box]", HTMLInputElement) };
}

/** As people type it here: a point for decimals, and nothing that a sum of steps leaves behind.
 * @param {number} value */
const written = (value) => String(Number(value.toFixed(9)));

/** @param {NonNullable<ReturnType<typeof slider>>} found @param {string} text */
function put(found, text) {
  found.box.value = text;
  follow(found);
}

/** @param {NonNullable<ReturnType<typeof slider>>} found */
function follow({ whole, range, box }) {
  const value = Number(box.value.replace(",", "."));
  if (box.value.trim() && Number.isFinite(value)) range.value = String(value);
  find(whole, "[data-reset]").hidden = box.value.trim() === whole.dataset.now;
}

/** @param {NonNullable<ReturnType<typeof slider>>} found @param {number} by */
function step(found, by) {
  const { low, high, step: size, now } = found.whole.dataset;
  const typed = Number(found.box.value.replace(",", "."));
  const value = (Number.isFinite(typed) ? typed : Number(now)) + by * Number(size);
  put(found, written(Math.min(Math.max(value, Number(low)), Number(high))));
}

/** @param {string} name */
const isKept = (name) => name.startsWith(TYPED) || SHOWN.includes(name);

/** @param {string} [asked] a parameter that no longer holds */
function keepInAddress(asked = "") {
  const form = document.querySelector("form[data-change]");
  if (!(form instanceof HTMLFormElement)) return;
  const address = new URL(location.href);
  address.searchParams.delete(asked);
  for (const name of [...address.searchParams.keys()]) if (isKept(name)) address.searchParams.delete(name);
  for (const [name, value] of new FormData(form)) if (isKept(name) && value) address.searchParams.append(name, String(value));
  history.replaceState(history.state, "", address);
}

document.addEventListener("input", (event) => {
  const found = slider(event.target);
  if (!found) return;
  if (event.target === found.range) put(found, written(found.range.valueAsNumber));
  else follow(found);
  keepInAddress();
});

// The card comes anew when a number is added or a change is tried: what an address asked for was another change.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target instanceof Element && target.id === "change-card") keepInAddress("trial");
});

document.addEventListener("click", (event) => {
  const found = slider(event.target);
  if (!found) return;
  if (closest(event.target, "[data-less]")) step(found, -1);
  else if (closest(event.target, "[data-more]")) step(found, 1);
  else if (closest(event.target, "[data-reset]")) {
    put(found, found.whole.dataset.now ?? "");
    found.box.focus();
  }
  keepInAddress();
});

document.addEventListener("keydown", (event) => {
  const found = slider(event.target);
  if (!found || event.target !== found.box || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  step(found, event.key === "ArrowUp" ? 1 : -1);
  keepInAddress();
});
