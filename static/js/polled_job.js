// A job's page that asks for itself anew every few seconds: the buttons in its head follow, and what is open stays open.
import { find, findAll } from "./elements.js";

const content = () => find(document, "[data-polled]");
const folds = () => findAll(content(), "details", HTMLDetailsElement);
/** @type {boolean[]} */
let open = [];

document.addEventListener("htmx:beforeSwap", () => (open = folds().map((fold) => fold.open)));
document.addEventListener("htmx:afterSwap", () => {
  folds().forEach((fold, i) => (fold.open = open[i] ?? fold.open));
  const buttons = find(document, "[data-job-actions]");
  const { status, command } = content().dataset;
  Object.assign(buttons.dataset, { status, command });
});
