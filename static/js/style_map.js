// The style map on a job's page: its chart, the ticks that belong to it, and the card of the agent that was opened. The
// server sends the map anew whenever an agent is trained; ticks stay as they are, unless agents were picked, and the
// chart stays in its place, where what is new is drawn.
import { decimals, whole } from "./charts/format.js";
import { tokens } from "./charts/theme.js";
import { closest, embedded, find, findAll, findOptional } from "./elements.js";
import { drawMap } from "./style_map_chart.js";
/** @import { Drawn } from "./style_map_chart.js" */

const MOST = 4; // agents side by side

const card = () => find(document, "#style-map");
/** @param {string} what */
const part = (what) => findOptional(card(), `[data-map-${what}]`);
const boxes = () => findAll(card(), "input[name=agent]", HTMLInputElement);
const ticked = () => boxes().filter((box) => box.checked).map((box) => Number(box.value));

/** What is along each axis, once somebody chose it. @type {Record<"across" | "up", string>} */
const chosen = { across: "", up: "" };
/** Who was ticked before the map was sent anew. @type {number[] | null} */
let before = null;
let drawing = Promise.resolve();

function draw() {
  drawing = drawing.then(drawNow, drawNow);
}

async function drawNow() {
  const chart = part("chart");
  if (!chart) return;
  /** @type {Drawn} */
  const drawn = embedded("style-map-data");
  const scores = drawn.values.score.mean;
  let [low, high] = [Infinity, -Infinity]; // no Math.min(...scores): there may be more agents than a call has arguments
  for (const score of scores) [low, high] = [Math.min(low, score), Math.max(high, score)];
  const [lowest, highest, bar] = [part("lowest"), part("highest"), part("scale")];
  if (lowest) lowest.textContent = scores.length ? decimals(low, 2) : "";
  if (highest) highest.textContent = high > low ? decimals(high, 2) : "";
  if (bar) bar.hidden = !(high > low);
  const along = { x: select("across").value, y: select("up").value };
  listShared(await drawMap(chart, drawn, along, new Set(ticked()), tokens(), open));
}

/** Who shares a mark, as buttons for the keyboard. @param {number[][]} groups */
function listShared(groups) {
  const fold = part("shared");
  if (!fold) return;
  fold.hidden = !groups.length;
  find(fold, "ul").replaceChildren(...groups.map((agents) => {
    const item = document.createElement("li");
    item.append(...agents.flatMap((agent) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "btn btn-sm", textContent: `Agent ${agent}` });
      button.addEventListener("click", () => open(agent));
      return [button, " "];
    }));
    return item;
  }));
}

/** @param {"across" | "up"} name */
const select = (name) => find(card(), `[data-map-${name}]`, HTMLSelectElement);

/** Open an agent's card, as its link in the table does. @param {number} agent */
function open(agent) {
  const link = findOptional(card(), `[data-agent-link="${agent}"]`);
  if (link) {
    link.click();
    return;
  }
  const address = part("chart")?.dataset.mapCard?.replace(/0\/$/, `${agent}/`); // it is on another page of the table
  if (address) window.htmx.ajax("GET", address, { target: find(document, "#style-agent"), select: "#style-agent", swap: "outerHTML" });
}

function tellTicked() {
  const count = ticked().length;
  const note = part("ticked");
  if (note) note.textContent = count > MOST ? `${whole(count)} are ticked; ${MOST} play side by side at most.` : count ? `${whole(count)} ticked, side by side on the same seed.` : "One to four, side by side on the same seed.";
  for (const box of boxes()) closest(box, "tr")?.classList.toggle("selected", box.checked);
}

function show() {
  for (const name of /** @type {const} */ (["across", "up"])) {
    if (part(name) && chosen[name] && [...select(name).options].some(({ value }) => value === chosen[name])) select(name).value = chosen[name];
  }
  if (before) for (const box of boxes()) box.checked = before.includes(Number(box.value));
  before = null;
  tellTicked();
  draw();
}

document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLElement) || !card().contains(target)) return;
  if (target instanceof HTMLSelectElement && (target.id === "map-across" || target.id === "map-up")) {
    chosen[target.id === "map-up" ? "up" : "across"] = target.value;
    draw();
  }
  if (target instanceof HTMLInputElement && target.name === "agent") {
    tellTicked();
    draw();
  }
});

// Parents and other difficulties open in the card's place; with a key held, as any link does.
document.addEventListener("click", (event) => {
  const link = closest(event.target, "#style-agent [data-open-agent]", HTMLAnchorElement);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  window.htmx.ajax("GET", link.href, { target: find(document, "#style-agent"), select: "#style-agent", swap: "outerHTML" });
});

document.addEventListener("htmx:beforeSwap", ({ detail: { target, requestConfig } }) => {
  if (target.id === "style-map-found" || target.id === "style-map") before = requestConfig && closest(requestConfig.elt, "[data-map-form]") ? null : ticked();
});
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (!(target instanceof Element)) return;
  if (target.id.startsWith("style-map")) show();
  if (target.id === "style-agent") findOptional(document, "#agent-title")?.focus({ preventScroll: true });
});
document.addEventListener("equipoise:theme", draw);
window.addEventListener("resize", draw); // who shares a mark depends on how large the chart is

show();
