// Keeps the list of jobs as it is now: any event of the project asks for it again, at most once a second.
import { listen } from "./events.js";

const PAUSE_MS = 1000;
let due = 0;

listen(document.querySelector("script[data-events]").dataset.events, (message) => {
  if (due || message.type === "gone") return;
  due = setTimeout(() => {
    due = 0;
    window.htmx.trigger("#jobs-list", "jobs-changed"); // links carry ids, so htmx gives the focus back
  }, PAUSE_MS);
});
