// Shows the columns and the picture of the chosen game, and draws each start on it while its numbers are typed. What no start
// can be is not drawn, and said below the picture.
import { find, findAll } from "./elements.js";

const LEAST = 2.5; // as in webapp/starts/picture.py
const COLOURS = 8;
const PLAIN = /^[-+]?(\d+\.?\d*|\.\d+)$/;
const form = find(document, "[data-starts]");
const game = find(document, "select[name=game]", HTMLSelectElement);

/** What is typed for a setting of a start: its number, none where the box is empty, and whether no start can have it.
 * @param {string} setting @param {string} start @returns {{ value: number | null, wrong: boolean }} */
function typed(setting, start) {
  const box = find(document, `input[name="${setting}${start}"]`, HTMLInputElement);
  const text = box.value.trim().replace(",", ".").replace("−", "-");
  const value = text === "" ? null : PLAIN.test(text) ? Number(text) : NaN;
  return { value, wrong: value !== null && !(value >= Number(box.dataset.low) && value <= Number(box.dataset.high)) };
}

/** Where a range begins, how long it is, and whether anything is typed for it; `wrong`: why it cannot be drawn.
 * @typedef {{ at: number, long: number, typed: boolean, wrong: string }} Range
 * @param {string} text @param {number} size @param {string} start @returns {Range} */
function range(text, size, start) {
  const [first, last, low, high, ...usual] = text.split(" ");
  const place = (/** @type {number} */ value) => (size * (value - Number(low))) / (Number(high) - Number(low));
  const found = [typed(first, start), typed(last, start)];
  const [least, most] = found.map(({ value }, k) => value ?? Number(usual[k]));
  const [a, b] = [place(least), place(most)].sort((one, other) => one - other);
  const some = found.some(({ value }) => value !== null);
  const wrong = found.some((end) => end.wrong) ? "a box holds no number, or one that is too small or too large" : most < least ? "a range ends before it begins" : "";
  return b - a >= LEAST ? { at: a, long: b - a, typed: some, wrong } : { at: (a + b - LEAST) / 2, long: LEAST, typed: some, wrong };
}

/** Draw a start; what is wrong is left out, and returned in words.
 * @param {SVGRectElement} mark @returns {string} */
function draw(mark) {
  const start = mark.dataset.mark ?? "";
  const svg = /** @type {SVGSVGElement} */ (mark.ownerSVGElement);
  const [width, height] = [Number(svg.dataset.width), Number(svg.dataset.height)];
  const across = range(mark.dataset.across ?? "", width, start);
  const down = mark.dataset.down ? range(mark.dataset.down, height, start) : { at: 0, long: height, typed: false, wrong: "" };
  const hard = find(form, `input[name=hard][value="${start}"]`, HTMLInputElement).checked;
  const wrong = across.wrong || down.wrong;
  mark.toggleAttribute("hidden", wrong !== "" || !(across.typed || down.typed || hard));
  for (const [name, value] of Object.entries({ x: across.at, width: across.long, y: down.at, height: down.long })) {
    mark.setAttribute(name, wrong ? "0" : String(value));
  }
  const name = nameOf(start);
  find(mark, "title", SVGTitleElement).textContent = name;
  return wrong && `${name} is not drawn: ${wrong}.`;
}

/** @param {string} start */
const nameOf = (start) => find(document, `input[name="name${start}"]`, HTMLInputElement).value.trim() || `Start ${start}`;

/** Every start that is filled in has the colour that it will have on the job's page: the easier ones in their order, the hard
 * one last. */
function colour() {
  const rows = findAll(form, "[data-start]").map((row) => ({
    start: row.dataset.start ?? "",
    hard: find(row, "input[name=hard]", HTMLInputElement).checked,
    typed: findAll(row, "td[data-games]:not([hidden]) input", HTMLInputElement).some(({ value }) => value.trim() !== ""),
  }));
  const used = [...rows.filter(({ hard, typed: some }) => some && !hard), ...rows.filter(({ hard }) => hard)].map(({ start }) => start);
  for (const part of findAll(form, "[data-key], [data-mark]", SVGElement)) {
    const place = used.indexOf(part.dataset.key ?? part.dataset.mark ?? "");
    const painted = part.dataset.key ? find(part, "rect", SVGRectElement) : part;
    painted.setAttribute("class", `${part.dataset.mark ? "starts-mark " : ""}start-${Math.min(place + 1, COLOURS) || 1}`);
    if (part.dataset.key) part.classList.toggle("starts-unused", place < 0);
  }
}

/** The start in whose row somebody types stands out on the picture.
 * @param {FocusEvent} event */
function pick({ type, target }) {
  const row = target instanceof Element ? target.closest("[data-start]") : null;
  const start = type === "focusin" && row instanceof HTMLElement ? row.dataset.start : "";
  for (const mark of findAll(form, "[data-mark]", SVGRectElement)) mark.toggleAttribute("data-picked", mark.dataset.mark === start);
}

function show() {
  for (const part of findAll(form, "[data-games]")) {
    part.toggleAttribute("hidden", !(part.dataset.games ?? "").split(" ").includes(game.value));
  }
  colour();
  for (const figure of findAll(form, "figure[data-games]")) {
    const said = findAll(figure, "[data-mark]", SVGRectElement).map(draw).filter(Boolean).join(" ");
    const place = find(figure, "[data-not-drawn]");
    place.hidden = said === "";
    if (find(place, "span").textContent !== said) find(place, "span").textContent = said;
  }
}

form.addEventListener("focusin", pick);
form.addEventListener("focusout", pick);
game.addEventListener("change", show);
form.addEventListener("input", show);
window.addEventListener("pageshow", show); // a browser that goes back brings what was typed back after the page has loaded
show();
