// The sliders of "Try a change": slider, box and buttons show one number; the box is what is sent.
import { closest, find } from "./elements.js";

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
  told(found);
}

/** @param {NonNullable<ReturnType<typeof slider>>} found */
function told({ whole, range, box }) {
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

document.addEventListener("input", (event) => {
  const found = slider(event.target);
  if (found && event.target === found.range) put(found, written(found.range.valueAsNumber));
  else if (found) told(found);
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
});

document.addEventListener("keydown", (event) => {
  const found = slider(event.target);
  if (!found || event.target !== found.box || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  step(found, event.key === "ArrowUp" ? 1 : -1);
});
