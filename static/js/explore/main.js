// The front explorer: fetches the lineups, builds the parts around one store, and draws as soon as there is something.
import { plural, whole } from "../charts/format.js";
import { embedded, find as findIn, findAll, findOptional, make } from "../elements.js";
import { toast } from "../toast.js";
import { GoneOn } from "./data.js";
import { Drafts } from "./drafts.js";
import { Drawer } from "./drawer.js";
import { icon, narrow, setDisabled } from "./dom.js";
import { Filters } from "./filters.js";
import { HoverCard } from "./hover.js";
import { Judged } from "./judged.js";
import { Keyboard } from "./keyboard.js";
import { LineControl } from "./line.js";
import { loadCore, loadDetails } from "./lineups.js";
import { Live } from "./live.js";
import { Pairs } from "./pairs.js";
import { Parallel } from "./parallel.js";
import { PieceSearch } from "./pieces.js";
import { keepDrawnSize } from "./printing.js";
import { Shortlist } from "./shortlist.js";
import { ShortlistSheet } from "./shortlist_sheet.js";
import { Store } from "./store.js";
import { Table } from "./table.js";
import { ThreeD } from "./three_d.js";
/** @import { Files } from "./lineups.js" */
/** @import { Hover } from "./panel.js" */
/** @import { Open } from "./three_d.js" */

/** What the server told when the page was made: addresses, and who looks. `fileRows`: the most lineups of a file;
 * `later`: lines that later searches begin with, by objective.
 * @typedef {{ job: number, person: number, running: boolean, state: string, shortlist: string, recheck: string, line: string,
 *   events: string, export: Record<string, string>, data: Files, fileRows: number, later?: Record<string, number> }} Config */

/** @type {Config} */
const config = embedded("explore-config");
/** @param {string} selector */
const find = (selector) => findIn(document, selector);
const SAY_PAUSE_MS = 700;
const TURNS = 8; // states of a fast job that are asked for before giving up

/** @param {Store} store @param {Record<string, HTMLElement>} charts */
function views(store, charts) {
  const tabs = findAll(document, "[data-view]");
  for (const tab of tabs) tab.addEventListener("click", () => store.set({ view: tab.dataset.view }, { leave: true }));
  const show = () => {
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.view === store.state.view));
    for (const [view, element] of Object.entries(charts)) element.hidden = view !== store.state.view;
    find("[data-chart-note]").hidden = store.state.view === "pairs";
    find("[data-fit]").hidden = store.state.view !== "pairs";
  };
  store.on("view", show);
  show();
}

/** @param {Store} store */
function fit(store) {
  const button = find("[data-fit]");
  button.addEventListener("click", () => store.set({ fit: !store.state.fit }));
  const show = () => {
    button.setAttribute("aria-pressed", String(store.state.fit));
    button.textContent = store.state.fit ? "Show everything" : "Zoom to matches";
  };
  store.on("fit", show);
  show();
}

/** @param {Store} store */
function takeAway(store) {
  const links = findAll(document, "[data-export]", HTMLAnchorElement);
  const show = () => {
    const words = store.address("rows").toString().replaceAll("%2C", ",");
    const count = store.state.rows.size || store.order.length;
    for (const link of links) {
      link.href = config.export[link.dataset.export ?? ""] + (words ? `?${words}` : "");
      const tooMany = link.dataset.export !== "csv" && count > config.fileRows;
      setDisabled(link, tooMany || !count);
      link.title = tooMany ? `This takes up to ${whole(config.fileRows)} lineups: filter further, or take CSV` : "";
    }
    find("[data-take]").textContent = store.state.rows.size ? `Export ${plural(store.state.rows.size, "ticked lineup")}` : "Export";
    find("[data-untick]").hidden = !store.state.rows.size;
  };
  for (const link of links) {
    link.addEventListener("click", (event) => {
      if (!link.hasAttribute("aria-disabled")) return;
      event.preventDefault();
      toast(link.title || "Nothing matches, so there is nothing to export.", { hint: true });
    });
  }
  find("[data-untick]").addEventListener("click", () => store.set({ rows: new Set() }));
  store.on("filter rows sort", show);
  show();
}

function share() {
  find("[data-share]").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      toast("The address of this view is copied. Members of the project see the same.");
    } catch {
      toast(`Copy this address: ${location.href}`, { hint: true });
    }
  });
}

/** Tell screen readers what a filter left, once it has settled.
 * @param {Store} store */
function sayMatches(store) {
  let due = 0;
  store.on("filter", () => {
    clearTimeout(due);
    due = setTimeout(() => {
      find("#explore-said").textContent = store.said;
    }, SAY_PAUSE_MS);
  });
}

/** What to do when nothing is over the line, and when filters leave nothing.
 * @param {Store} store */
function nothing(store) {
  const box = find("[data-nothing]");
  const show = () => {
    const { lineups, hasLine } = store;
    const none = hasLine && !store.byVerdict[1] && !store.byVerdict[2] && !store.narrowed;
    const words = !lineups.count ? "The first lineups appear here when the first round is complete."
      : none ? `Nothing is ${lineups.words.over}${lineups.moved ? " by the moved line" : ""} among the ${plural(lineups.count, "lineup")} that the search played.`
        : "No lineup matches these filters.";
    const button = make("button", { type: "button", class: "btn btn-sm" }, none ? "Show the other lineups" : "Reset the filters");
    button.addEventListener("click", () => (none ? store.set({ show: new Set([0, 1, 2]) }) : store.reset()));
    box.replaceChildren(make("p", {}, words), ...(lineups.count ? [button] : []));
  };
  store.on("filter data", show);
  show();
}

/** @param {string} message */
function fail(message) {
  const card = find("[data-chart-card]");
  findIn(card, "[data-charts]").replaceChildren(
    make("div", { class: "problem", role: "alert" }, icon("alert-triangle"), make("div", {}, make("b", {}, "The lineups could not be shown."), ` ${message}`)),
  );
}

/** @param {Store} store */
function build(store) {
  const card = find("[data-table-card]");
  const note = find("[data-chart-note]");
  const hover = new HoverCard(store, find("[data-hover]"), find("[data-hover-leader]"));
  /** @type {Hover} */
  const over = (row, chart, pointer) => hover.show(row, chart, pointer);
  const drafts = new Drafts(config);
  const shortlist = new Shortlist(store, config, { panel: find("[data-shortlist]"), button: findOptional(document, "[data-recheck]"), hint: findOptional(document, "[data-recheck-hint]"), drafts });
  const sheet = new ShortlistSheet(store, find("[data-shortlist-card]")); // before the drawer, which covers it
  const drawer = new Drawer(store, find("[data-drawer-card]"), { shortlist, drafts });
  /** @type {Open} */
  const open = (row, byKey = false) => {
    if (row < 0) return;
    store.set({ pick: store.lineups.id[row] }, { leave: narrow.matches });
    if (byKey) drawer.focus();
  };
  const table = new Table(store, card, { open });
  drawer.back = () => table.focus();
  const filters = new Filters(store, find("[data-filters]"));
  const search = new PieceSearch(store, find("[data-piece-search]"));
  const charts = { pairs: find("[data-pairs]"), "3d": find("[data-three-d]"), lines: find("[data-lines]") };
  views(store, charts);
  keepDrawnSize(find("[data-charts]"));
  const pairs = new Pairs(store, charts.pairs, over);
  document.addEventListener("equipoise:theme", () => pairs.retheme());
  new ThreeD(store, charts["3d"], note, { hover, open, say: (words) => (find("#explore-said").textContent = words) }).soon();
  new Parallel(store, charts.lines, note, { hover, open }).draw();
  new LineControl(store, config, shortlist);
  const judged = new Judged(store, find(".facts"), find("[data-filters]"));
  new Keyboard({ table, drawer, filters, sheet, hover, help: findIn(document, "[data-help]", HTMLDialogElement), search: search.input });
  fit(store);
  takeAway(store);
  share();
  sayMatches(store);
  nothing(store);
  addEventListener("popstate", () => store.return());
  return { pairs, shortlist, judged };
}

/** The lineups as the job is now: a fast one may have gone on since the page was made, and again since it was asked. */
async function first() {
  for (let turn = 1; ; turn += 1) {
    const details = loadDetails(config.data);
    details.catch(() => null); // reported by who awaits it, after what is known is on the page
    try {
      return { lineups: await loadCore(config.data), details };
    } catch (error) {
      if (!(error instanceof GoneOn) || turn === TURNS) throw error;
      const answer = await fetch(config.state, { credentials: "same-origin" });
      if (!answer.ok) throw error;
      config.data = (await answer.json()).data;
    }
  }
}

async function begin() {
  const { lineups, details } = await first();
  const store = new Store(lineups, new URLSearchParams(location.search));
  const { pairs, shortlist, judged } = build(store);
  store.lineups.detail(await details);
  store.detailed();
  const live = new Live(store, config, { shortlist, judged, stale: find("[data-stale]") });
  const refreshed = live.refresh();
  await pairs.painted();
  document.documentElement.dataset.explorer = "painted"; // tests and the benchmark wait for it
  await refreshed;
  document.documentElement.dataset.settled = ""; // nothing moves any more by itself
}

begin().catch((error) => fail(error.message));
