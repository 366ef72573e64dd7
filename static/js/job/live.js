// What keeps the page of a job of any kind live. The server's first answer holds its state and history; events bring it
// on from there, each once and in order: an event that is not the next one makes the page ask for those between.
import { listen } from "../events.js";
import { toast } from "../toast.js";
import { showIncidents, showPlace, report } from "./history.js";
import { embedded, find, findAll } from "../elements.js";
import { apply, at, links, page, readRounds, state } from "./state.js";
import { heed, showWarned } from "./warned.js";
/** @import { Message } from "../events.js" */
/** @import { JobEvent } from "./state.js" */

const REDRAW_MS = 1000;
const AGAIN_MS = 3000; // after the site gave no answer
const exact = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** @type {Promise<unknown> | null} */
let drawing = null;
let drawAgain = false;
let drawnAt = 0;
function draw() {
  if (drawing || document.visibilityState === "hidden") {
    drawAgain = true;
    return;
  }
  const wait = Math.max(0, drawnAt + REDRAW_MS - Date.now());
  drawing = new Promise((resolve) => setTimeout(resolve, wait)).then(drawNow).then((partly) => partly === true && setTimeout(draw, AGAIN_MS)).finally(() => {
    drawing = null;
    drawnAt = Date.now();
    if (drawAgain) {
      drawAgain = false;
      draw();
    }
  });
}
document.addEventListener("visibilitychange", () => drawAgain && ((drawAgain = false), draw()));
document.addEventListener("equipoise:theme", draw);

/** @type {() => void} */
let showFigures = () => {};
/** @type {() => Promise<unknown>} */
let drawNow = async () => {};
function show() {
  showFigures();
  showIncidents();
  showPlace();
  showWarned();
}
let shown = 0;
function showSoon() {
  shown ||= requestAnimationFrame(() => {
    shown = 0;
    show();
  });
}

/** @param {JobEvent} event */
function next(event) {
  // Its settings were not complete when this page was made; they are now.
  if (page.unfinished && event.status === "queued") location.reload();
  const worth = apply(event);
  if (worth) report({ ...event, words: worth });
  report(event);
  heed(event);
}

/** @type {Promise<void> | null} */
let catching = null;
let missed = false;
async function catchUp() {
  for (;;) {
    missed = false;
    const answer = await fetch(`${links.events}?job=${state.job}&after=${state.sequence}&poll=1`, { cache: "no-store" }).catch(() => null);
    if (!answer?.ok) return;
    const { events } = await answer.json();
    for (const event of events) if (event.sequence === state.sequence + 1) next(event);
    if (!events.length && !missed) break;
  }
  showSoon();
  draw();
}

function askBetween() {
  missed = true;
  catching ??= catchUp().finally(() => (catching = null));
}

/** @param {JobEvent} event */
function take(event) {
  if (event.job !== state.job || event.sequence <= state.sequence) return;
  if (event.sequence > state.sequence + 1) {
    askBetween();
    return;
  }
  next(event);
  showSoon();
  draw();
}

/** @param {Message} message */
function onMessage({ type, data }) {
  if (type === "event") take(/** @type {JobEvent} */ (data));
  // A snapshot is a state, not an event: what led to it is still to be told.
  if (type === "snapshot" && data.jobs.some((job) => job.job === state.job && job.sequence > state.sequence)) askBetween();
  if (type === "gone") {
    at("offline").hidden = false;
    at("offline").textContent = "You are signed out, or no longer in this project. Load the page again to go on.";
  }
}

function connection() {
  const away = !navigator.onLine;
  if (away) at("offline-at").textContent = exact.format(new Date());
  at("offline").hidden = !away;
  if (!away) catching ??= catchUp().finally(() => (catching = null));
}
window.addEventListener("offline", connection);
window.addEventListener("online", connection);

for (const form of findAll(document, "form[data-act]", HTMLFormElement)) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = find(form, "button");
    button.setAttribute("aria-busy", "true");
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" }, keepalive: true }).catch(() => null);
    button.removeAttribute("aria-busy");
    if (!answer?.ok) return toast("The site did not take that. Try again in a moment.", { problem: true });
    const { refused } = await answer.json();
    if (refused) toast(refused, { problem: true });
    catching ??= catchUp().finally(() => (catching = null));
    return undefined;
  });
}

/** Keep the page live: ``figures`` writes the present state into it, ``pictures`` draws what has been found so far.
 * What could not all be fetched (``pictures`` gives true) is drawn again soon.
 * @param {{ figures: () => void, pictures: () => Promise<unknown> }} show */
export function follow({ figures, pictures }) {
  [showFigures, drawNow] = [figures, pictures];
  for (const event of embedded("job-history").reverse()) report(event);
  show();
  readRounds().then(() => {
    show();
    draw();
    listen(`${links.events}?project=${encodeURIComponent(page.project)}`, onMessage);
  });
}
