// The table twin of every chart: all matching lineups, of which only the rows on the screen exist. Arrow keys walk,
// Space ticks, Enter opens, S shortlists. The grid keeps the focus and names the row that is meant.
import { plural, shortUnit, whole } from "../charts/format.js";
import { family, mark, rangeBar } from "../marks.js";
import { closest, find, findAll, make } from "../elements.js";
import { UNDER, VERDICTS } from "./lineups.js";
import { whenPrinted } from "./printing.js";

const SPARE = 4; // rows kept above and below what is seen
const PRINTED = 50; // rows on paper, where nothing scrolls
const NBSP = "\u00a0"; // lines break between teams, not within a name
/** @import { Store } from "./store.js" */
/** @import { Open } from "./three_d.js" */

/** A row on the page, which shows one lineup after the other. @typedef {{ element: HTMLTableRowElement, box: HTMLInputElement,
 *   name: HTMLElement, values: HTMLElement[], sure: HTMLElement }} Row */

/** The chip and the mark of what fresh battles find. @type {Record<string, [css: string, mark: string | null]>} */
const CHIPS = {
  confirmed: ["chip chip-over", "strong"],
  weak: ["chip chip-unsure", "unsure"],
  refuted: ["chip chip-accent", "fair"],
  more: ["chip chip-unsure", "unsure"],
  close: ["chip chip-unsure", "unsure"],
  measured: ["chip chip-quiet", null],
  meant: ["chip chip-quiet", null],
};

/** Say this in a cell that does not say it already.
 * @param {HTMLElement} cell @param {...(Node | string)} said */
function say(cell, ...said) {
  const meant = make("td", {}, ...said);
  for (const { name, value } of cell.attributes) meant.setAttribute(name, value);
  if (!meant.isEqualNode(cell)) cell.replaceChildren(...meant.childNodes);
}

export class Table {
  /** @param {Store} store @param {HTMLElement} card @param {{ open: Open }} page */
  constructor(store, card, { open }) {
    this.store = store;
    this.card = card;
    this.open = open;
    /** The place that keys mean. */
    this.active = 0;
    this.onPaper = false;
    /** @type {Row[]} */
    this.pool = [];
    this.scroller = find(card, ".lineups-scroll");
    this.grid = find(card, "[role=grid]");
    this.head = find(card, "thead");
    this.body = find(card, "tbody", HTMLTableSectionElement);
    this.foot = find(card, "[data-rows]");
    this.columns = this.plan();
    this.grid.classList.toggle("one-team", store.lineups.meta.teams === 1);
    this.heads();
    this.before = this.body.insertRow();
    this.after = this.body.insertRow();
    for (const spacer of [this.before, this.after]) {
      spacer.setAttribute("role", "presentation");
      spacer.setAttribute("aria-hidden", "true");
    }
    this.listen();
    store.on("filter", () => this.refill());
    store.on("names pick rows listed colour", () => this.draw());
    store.on("pick", () => this.follow());
    store.on("sort", () => this.sortHeads());
    this.sortHeads();
    this.refill();
  }

  /** Objectives in the order of columns: the one with the line first, with its range bar. */
  plan() {
    const { lineups, lined } = this.store;
    return [lined, ...lineups.objectives.keys()].filter((j, i, all) => all.indexOf(j) === i);
  }

  get rowHeight() {
    const [phone, narrow] = [767.98, 1239.98].map((width) => matchMedia(`(max-width: ${width}px)`).matches);
    if (this.store.lineups.meta.teams === 1) return narrow ? 84 : 72; // lines of a name; explore.css has the same
    return phone ? 60 : 53;
  }

  heads() {
    const { lineups } = this.store;
    const heads = [make("th", { class: "tick-cell", scope: "col" }, make("span", { class: "visually-hidden" }, "Ticked"))];
    heads.push(this.sortHead(lineups.meta.teams === 1 ? "Team" : "Teams compared together", "name", "name-cell"));
    this.columns.forEach((j, i) => {
      const objective = lineups.objectives[j];
      const { title, unit, name } = objective;
      const words = i && unit ? `${title},${NBSP}${shortUnit(unit)}` : title;
      heads.push(this.sortHead(words, name, i ? "number-cell" : "range-cell"));
    });
    heads.push(this.sortHead("How sure", "how", "sure-cell"));
    find(this.head, "tr").replaceChildren(...heads);
    this.grid.style.setProperty("--others", String(this.columns.length - 1));
    this.grid.setAttribute("aria-colcount", String(heads.length));
  }

  /** @param {string} words @param {string} sort @param {string} css */
  sortHead(words, sort, css) {
    const button = make("button", { type: "button", class: "sort", "data-sort": sort }, words);
    button.addEventListener("click", () => this.sortBy(sort));
    return make("th", { class: css, scope: "col" }, button);
  }

  /** @param {string} word */
  sortBy(word) {
    const { sort } = this.store.state;
    const objective = this.store.lineups.objectives.find((o) => o.name === word);
    const downFirst = word !== "name" && objective?.direction !== "min";
    const first = downFirst ? `-${word}` : word;
    const other = downFirst ? word : `-${word}`;
    this.store.set({ sort: sort === first ? other : first });
  }

  sortHeads() {
    const { sort } = this.store.state;
    for (const button of findAll(this.card, "[data-sort]")) {
      const meant = button.dataset.sort === sort.replace(/^-/, "");
      const direction = sort.startsWith("-") ? "descending" : "ascending";
      if (meant) button.parentElement?.setAttribute("aria-sort", direction);
      else button.parentElement?.removeAttribute("aria-sort");
    }
    this.sayOrder();
  }

  sayOrder() {
    const { lineups, state } = this.store;
    const word = state.sort.replace(/^-/, "");
    const objective = lineups.objectives.find((o) => o.name === word)?.title.toLowerCase() ?? "name";
    const title = word === "how" ? "how sure" : objective;
    const then = word === "how" ? `, then ${lineups.objectives[this.store.lined].title.toLowerCase()}` : "";
    find(this.card, "[data-sorted]").textContent = `sorted by ${title}${then}`;
  }

  // ---- drawing ----

  refill() {
    const { order } = this.store;
    this.grid.setAttribute("aria-rowcount", String(order.length + 1));
    find(this.card, "[data-count]").textContent = this.store.said;
    this.active = Math.max(0, this.store.placeOf(this.store.picked));
    this.scroller.scrollTop = this.active * this.rowHeight > this.scroller.clientHeight ? (this.active - 2) * this.rowHeight : 0;
    find(this.card, "[data-nothing]").hidden = order.length > 0;
    this.grid.hidden = order.length === 0;
    this.sayAcross();
    this.draw();
  }

  /** Of confirmed lineups in the list: how many may be wrong, and of those whose ranges say less than that
   * word, how that can be. */
  sayAcross() {
    const { lineups, match } = this.store;
    find(this.card, "[data-false-alarms]").hidden = !lineups.confirmed.some((row) => match[row]);
    const said = lineups.moved ? [] : [...lineups.fresh].filter(([id, { why }]) => why && match[lineups.row(id)]);
    const what = [...new Set(said.map(([, { now }]) => now.across))].join(" or ");
    const note = find(this.card, "[data-across]");
    note.hidden = said.length === 0;
    note.textContent = `${plural(said.length, "lineup")} here ${said.length === 1 ? "is" : "are"} confirmed, with a 95 % range that reaches across ${what}. ${lineups.meta.why_across}`;
  }

  /** A lineup stays in its row of the page while it is drawn, and what it says is not made anew: else a click in whose
   * midst this is called would be lost. */
  draw() {
    const [first, last] = this.drawn();
    while (this.pool.length < last - first) this.pool.push(this.blank());
    const rows = Array.from({ length: last - first }, (_, i) => this.pool[(first + i) % this.pool.length]);
    const kept = new Set(rows.filter(({ element }, i) => element.dataset.place === String(first + i)));
    for (const row of this.pool) if (!kept.has(row)) row.element.remove();
    let above = this.before;
    rows.forEach((row, i) => {
      this.fill(row, first + i);
      if (row.element.previousElementSibling !== above) above.after(row.element);
      above = row.element;
    });
    this.before.style.height = `${first * this.rowHeight}px`;
    this.after.style.height = this.onPaper ? "0" : `${(this.store.order.length - last) * this.rowHeight}px`;
    this.sayRows();
    this.point();
  }

  /** The first place that is drawn, and the one behind the last. @returns {[first: number, behind: number]} */
  drawn() {
    const { order } = this.store;
    if (this.onPaper) return [0, Math.min(order.length, PRINTED)];
    const seen = Math.ceil(this.scroller.clientHeight / this.rowHeight) || 8;
    const top = Math.max(0, Math.floor(this.scroller.scrollTop / this.rowHeight));
    const first = Math.max(0, Math.min(top - SPARE, order.length - seen - 2 * SPARE));
    return [first, Math.min(order.length, first + seen + 2 * SPARE)];
  }

  /** Which rows are to be seen: those that stand wholly between the heads and the lower edge; on paper all that are. */
  sayRows() {
    const { order } = this.store;
    if (this.onPaper) {
      this.foot.textContent = order.length ? `Lineups 1 to ${this.drawn()[1]} of ${whole(order.length)}` : "";
      return;
    }
    const { top } = this.scroller.getBoundingClientRect();
    const [from, to] = [top + this.head.offsetHeight, top + this.scroller.clientTop + this.scroller.clientHeight];
    const seen = this.pool.filter(({ element }) => element.isConnected).filter(({ element }) => {
      const row = element.getBoundingClientRect();
      return row.top >= from - 1 && row.bottom <= to + 1;
    });
    const places = seen.map(({ element }) => Number(element.dataset.place) + 1);
    const rows = places.length ? `Lineups ${whole(Math.min(...places))} to ${whole(Math.max(...places))}` : "Lineups";
    this.foot.textContent = order.length ? `${rows} of ${whole(order.length)}` : "";
  }

  blank() {
    const element = make("tr", { role: "row" });
    const box = make("input", { type: "checkbox", class: "form-check-input", tabindex: "-1", "aria-hidden": "true" });
    const tick = make("td", { role: "gridcell", class: "tick-cell" }, box);
    const name = make("td", { role: "gridcell", class: "name-cell" });
    const values = this.columns.map((_, i) => make("td", { role: "gridcell", class: i ? "number-cell" : "range-cell" }));
    const sure = make("td", { role: "gridcell", class: "sure-cell" });
    element.append(tick, name, ...values, sure);
    return { element, box, name, values, sure };
  }

  /** @param {Row} row @param {number} place */
  fill(row, place) {
    const { store } = this;
    const { lineups, order, state } = store;
    const r = order[place];
    const id = lineups.id[r];
    const { element } = row;
    element.id = `lineup-${id}`;
    element.dataset.place = String(place);
    element.setAttribute("aria-rowindex", String(place + 2));
    element.setAttribute("aria-selected", String(state.rows.has(id)));
    element.classList.toggle("selected", state.pick === id);
    row.box.checked = state.rows.has(id);
    this.fillName(row.name, r);
    this.columns.forEach((j, i) => this.fillValue(row.values[i], r, j, !i));
    this.fillSure(row.sure, r, id);
  }

  /** @param {HTMLElement} cell @param {number} r */
  fillName(cell, r) {
    const { lineups } = this.store;
    const number = lineups.family[r];
    const shared = number ? lineups.meta.families[number - 1].name : "";
    const shape = lineups.kind[r] === UNDER && !number ? mark("under") : family(number, shared && `Family ${shared}: `);
    const name = lineups.name(r) || `Lineup ${lineups.id[r]}`;
    const others = lineups.others(r);
    cell.title = [name, ...others].join(", ");
    const words = make("span", {}, name.split(" · ").map((team) => team.replaceAll(" ", NBSP)).join(`${NBSP}· `));
    if (others.length) words.append(", ", make("small", { class: "muted" }, others.map((piece) => piece.replaceAll(" ", NBSP)).join(", ")));
    say(cell, shape, words);
  }

  /** @param {HTMLElement} cell @param {number} r @param {number} j @param {boolean} wide */
  fillValue(cell, r, j, wide) {
    const { lineups } = this.store;
    const objective = lineups.objectives[j];
    const value = lineups.value[j][r];
    const range = lineups.range(r, j);
    const texts = lineups.textsOf(r, j);
    const words = range && range[0] === range[1] ? "" : texts.range || "no range"; // an exact value says so in its details
    const few = lineups.few(r, j);
    // A row has no room for the whole of it: it is under the pointer, and read aloud.
    const why = few ? [`, of ${lineups.samples[r]}`, make("span", { class: "visually-hidden" }, ` ${few.replace(/^\S+\s/, "")}`)] : [];
    const ends = words ? make("small", { class: "muted", ...(few && { title: `It was measured with ${few}.` }) }, words, ...why) : "";
    if (!wide) return say(cell, texts.plain, ends);
    const kind = lineups.verdict[r] === UNDER ? "" : VERDICTS[lineups.verdict[r]];
    const [low, high] = range ?? [value, value];
    const bar = rangeBar({ value, low, high, axis: lineups.span(j), line: objective.threshold, kind });
    return say(cell, make("span", { class: "range-value" }, make("b", {}, texts.value), ends), bar);
  }

  /** @param {HTMLElement} cell @param {number} r @param {number} id */
  fillSure(cell, r, id) {
    const { listed, lineups, hasLine } = this.store;
    const played = listed.get(id);
    if (played?.on && played.state === "checking") return say(cell, make("span", { class: "chip chip-quiet" }, "Re-checking"));
    const found = lineups.fresh.get(id);
    if (!found || lineups.moved) return say(cell, hasLine ? lineups.howSure(r) : "");
    const [css, shape] = CHIPS[found.now.finding];
    return say(cell, make("span", { class: css, title: [found.words, found.why].filter(Boolean).join(". ") }, ...(shape ? [mark(shape)] : []), found.short));
  }

  // ---- keys and pointer ----

  /** Say which row is meant, and show it. */
  point() {
    const { order, lineups } = this.store;
    if (!order.length) return this.grid.removeAttribute("aria-activedescendant");
    this.active = Math.min(this.active, order.length - 1);
    const id = `lineup-${lineups.id[order[this.active]]}`;
    for (const { element } of this.pool) element.classList.toggle("active", element.id === id);
    // Scrolled away it is not on the page, and the grid must not name what is not there.
    if (this.pool.some(({ element }) => element.id === id && element.isConnected)) return this.grid.setAttribute("aria-activedescendant", id);
    return this.grid.removeAttribute("aria-activedescendant");
  }

  /** @param {number} place */
  go(place) {
    const { order } = this.store;
    if (!order.length) return;
    this.active = Math.max(0, Math.min(order.length - 1, place));
    const height = this.rowHeight;
    const head = this.head.offsetHeight;
    const { scrollTop, clientHeight } = this.scroller;
    const top = this.active * height;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + height > scrollTop + clientHeight - head) this.scroller.scrollTop = top + height - clientHeight + head;
    this.draw();
  }

  /** The row that keys mean, or -1. */
  get row() {
    const { order } = this.store;
    return order.length ? order[this.active] : -1;
  }

  tick(row = this.row) {
    if (row < 0) return;
    const id = this.store.lineups.id[row];
    const rows = new Set(this.store.state.rows);
    if (!rows.delete(id)) rows.add(id);
    this.store.set({ rows });
  }

  follow() {
    const place = this.store.placeOf(this.store.picked);
    if (place >= 0) this.go(place);
  }

  focus() {
    this.grid.focus({ preventScroll: false });
  }

  listen() {
    let due = false;
    this.scroller.addEventListener("scroll", () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        this.draw();
      });
    }, { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    whenPrinted((onPaper) => {
      this.onPaper = onPaper;
      this.draw();
    });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const place = closest(event.target, "tr")?.dataset.place;
      if (place === undefined) return;
      this.active = Number(place);
      if (closest(event.target, ".tick-cell")) this.tick();
      else this.open(this.row);
      this.draw();
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== this.grid) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 2);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.go(this.active + steps[event.key]);
    else if (event.key === " ") this.tick();
    else if (event.key === "Enter") this.open(this.row, true);
    else return;
    event.preventDefault();
  }
}
