// Shows the columns and the picture of the chosen game, and draws each start on it while its numbers are typed.
import { find, findAll } from "./elements.js";

const LEAST = 2.5; // as in webapp/starts/picture.py
const form = find(document, "[data-starts]");
const game = find(document, "select[name=game]", HTMLSelectElement);

/** The number that is typed for a setting of a start; none where its box is empty or holds no number.
 * @param {string} setting @param {string} start */
function typed(setting, start) {
  const text = find(document, `input[name="${setting}${start}"]`, HTMLInputElement).value.trim().replace(",", ".");
  return text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

/** Where a range begins, and how long it is; null where nothing is typed for it.
 * @param {string} text @param {number} size @param {string} start @returns {{ at: number, long: number, typed: boolean }} */
function range(text, size, start) {
  const [first, last, low, high, ...usual] = text.split(" ");
  const place = (/** @type {number} */ value) => (size * (value - Number(low))) / (Number(high) - Number(low));
  const found = [typed(first, start), typed(last, start)];
  const [a, b] = found.map((value, k) => place(value ?? Number(usual[k])));
  const some = found.some((value) => value !== null);
  return b - a >= LEAST ? { at: a, long: b - a, typed: some } : { at: (a + b - LEAST) / 2, long: LEAST, typed: some };
}

/** @param {SVGRectElement} mark */
function draw(mark) {
  const start = mark.dataset.mark ?? "";
  const svg = /** @type {SVGSVGElement} */ (mark.ownerSVGElement);
  const [width, height] = [Number(svg.dataset.width), Number(svg.dataset.height)];
  const across = range(mark.dataset.across ?? "", width, start);
  const down = mark.dataset.down ? range(mark.dataset.down, height, start) : { at: 0, long: height, typed: false };
  const hard = find(form, `input[name=hard][value="${start}"]`, HTMLInputElement).checked;
  mark.toggleAttribute("hidden", !(across.typed || down.typed || hard));
  for (const [name, value] of Object.entries({ x: across.at, width: across.long, y: down.at, height: down.long })) {
    mark.setAttribute(name, String(value));
  }
}

function show() {
  for (const part of findAll(form, "[data-games]")) {
    part.toggleAttribute("hidden", !(part.dataset.games ?? "").split(" ").includes(game.value));
  }
  for (const mark of findAll(form, "[data-mark]", SVGRectElement)) draw(mark);
}

game.addEventListener("change", show);
form.addEventListener("input", show);
window.addEventListener("pageshow", show); // a browser that goes back brings what was typed back after the page has loaded
show();
