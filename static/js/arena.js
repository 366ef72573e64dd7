// The timeline of lessons: which rows are unfolded goes along when a button draws them anew, and the page’s plan is then asked for again.
import { closest, find, findAll } from "./elements.js";

const SET = "#lesson-set";

document.addEventListener(
  "toggle",
  ({ target }) => {
    const set = closest(target, SET);
    if (!set || !closest(target, "[data-lesson]")) return;
    const open = findAll(set, "details[data-lesson][open]").map(({ dataset }) => dataset.lesson ?? "");
    find(set, "input[name=open]", HTMLInputElement).value = open.join(" ");
  },
  true, // it does not bubble
);

document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target instanceof Element && target.matches(SET)) closest(target, "form")?.dispatchEvent(new Event("change"));
});
