// A job's page that asks for itself anew every few seconds: the buttons in its head follow, what is open stays open,
// and what is read stays where it is, also where more stands above it now.
import { find, findAll } from "./elements.js";
import { showCommand } from "./job/commanded.js";

const content = () => find(document, "[data-polled]");
const folds = () => findAll(content(), "details", HTMLDetailsElement);
/** @type {boolean[]} */
let open = [];

/** The first heading in sight, once how far the job is has left it; and its place. @type {{ id: string, top: number } | null} */
let read = null;
const topOf = (/** @type {Element} */ element) => element.getBoundingClientRect().top;
function inSight() {
  const above = content().firstElementChild;
  const heading = findAll(content(), "h2[id]").find((title) => topOf(title) >= 0);
  return heading && above && above.getBoundingClientRect().bottom < 0 ? { id: heading.id, top: topOf(heading) } : null;
}

document.addEventListener("htmx:beforeSwap", () => {
  open = folds().map((fold) => fold.open);
  read = inSight();
});
document.addEventListener("htmx:afterSwap", () => {
  folds().forEach((fold, i) => (fold.open = open[i] ?? fold.open));
  const heading = read && document.getElementById(read.id);
  if (read && heading) scrollBy({ top: topOf(heading) - read.top, behavior: "instant" });
  read = null;
  const { status = "", command = "", active, policy } = content().dataset;
  showCommand(status, command);
  for (const words of findAll(document, "[data-goes-on]")) words.hidden = !active || command !== "";
  for (const link of findAll(document, "[data-take]")) link.hidden = !policy;
});

// The sign stands at once, also where the answer of the site takes a moment.
for (const form of findAll(document, "form[data-asks]", HTMLFormElement)) {
  form.addEventListener("submit", () => showCommand(content().dataset.status ?? "", form.dataset.asks ?? ""));
}
