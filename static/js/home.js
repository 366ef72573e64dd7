// Keeps the lists of jobs on Home as they are now: any event of one of the person's projects asks for them again.
import { find } from "./elements.js";
import { listen } from "./events.js";

const PAUSE_MS = 1000;
const projects = (find(document, "script[data-projects]").dataset.projects ?? "").trim().split(" ");
const MOST_STREAMS = 3;
const AGAIN_MS = 4000;
let due = 0;

function refresh() {
  if (due) return;
  due = setTimeout(() => {
    due = 0;
    const list = document.getElementById("home-jobs");
    if (list) window.htmx.trigger(list, "jobs-changed"); // links carry ids, so htmx gives the focus back
  }, PAUSE_MS);
}

// The site may be away for a moment, or restart: what was asked for meanwhile is asked for again.
for (const failed of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(failed, ({ target }) => {
    if (target instanceof Element && target.id === "home-jobs") setTimeout(refresh, AGAIN_MS);
  });
}

for (const slug of projects.slice(0, MOST_STREAMS)) listen(`/events/?project=${encodeURIComponent(slug)}`, refresh);
