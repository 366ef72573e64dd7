// Charts whose lines are told apart (templates/studies/partials/lines.html): a line that is pointed at, by itself or by its
// name, stands out from the others, and so does one whose name has the keyboard. A name that is pressed keeps its line.
import { closest, findAll } from "./elements.js";

/** The line that is kept in each chart, by the chart's place on the page, which may draw itself anew.
 * @type {string[]} */
const kept = [];
const charts = () => findAll(document, "[data-lines]");

/** @param {HTMLElement} chart @param {string} name */
function pick(chart, name) {
  chart.classList.toggle("lines-picking", name !== "");
  for (const part of findAll(chart, "[data-line]", Element)) part.classList.toggle("lines-picked", part.getAttribute("data-line") === name);
}

/** What an event is about: the chart, and the name of the line or "" where it is none.
 * @param {Event} event */
function about({ target }) {
  const chart = closest(target, "[data-lines]");
  return chart && { chart, name: closest(target, "[data-line]", Element)?.getAttribute("data-line") ?? "" };
}

/** @param {HTMLElement} chart */
function rest(chart) {
  const name = kept[charts().indexOf(chart)] ?? "";
  pick(chart, name);
  for (const button of findAll(chart, "button[data-line]")) button.setAttribute("aria-pressed", String(button.dataset.line === name && name !== ""));
}

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const found = about(event);
    if (found?.name) pick(found.chart, found.name);
  });
}
for (const kind of ["pointerout", "focusout"]) {
  document.addEventListener(kind, (event) => {
    const found = about(event);
    if (found) rest(found.chart);
  });
}
document.addEventListener("click", (event) => {
  const found = about(event);
  if (!found?.name || !closest(event.target, "button")) return;
  const place = charts().indexOf(found.chart);
  kept[place] = kept[place] === found.name ? "" : found.name;
  rest(found.chart);
});
document.addEventListener("htmx:afterSwap", () => charts().forEach(rest));
