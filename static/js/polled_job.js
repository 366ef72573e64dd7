// A job's page that asks for itself anew every few seconds: the buttons in its head follow, and what is open stays open.
import { find, findAll } from "./elements.js";
import { showCommand } from "./job/commanded.js";

const content = () => find(document, "[data-polled]");
const folds = () => findAll(content(), "details", HTMLDetailsElement);
/** @type {boolean[]} */
let open = [];

document.addEventListener("htmx:beforeSwap", () => (open = folds().map((fold) => fold.open)));
document.addEventListener("htmx:afterSwap", () => {
  folds().forEach((fold, i) => (fold.open = open[i] ?? fold.open));
  const { status = "", command = "" } = content().dataset;
  showCommand(status, command);
});

// The sign stands at once, also where the answer of the site takes a moment.
for (const form of findAll(document, "form[data-asks]", HTMLFormElement)) {
  form.addEventListener("submit", () => showCommand(content().dataset.status ?? "", form.dataset.asks ?? ""));
}
