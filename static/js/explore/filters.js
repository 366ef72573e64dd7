// The left column: number boxes, pieces, marks and families. Everything a drag in a chart can do is typed here.
import { asTyped, typed, whole } from "../charts/format.js";
import { family } from "../marks.js";
import { find, findAll, findOptional, make } from "../elements.js";
import { cover } from "./dom.js";
/** @import { Store } from "./store.js" */

/** A bound of an objective, by its name. @typedef {{ end: "min" | "max", name: string }} Bound */

/** Filters that are on or off. */
const SWITCHES = /** @type {const} */ (["best", "listed"]);

/** The bound that a number box sets. @param {HTMLElement} box @returns {Bound} */
function boundOf(box) {
  const [end, name] = (box.dataset.bound ?? "").split(":");
  return { end: end === "min" ? "min" : "max", name };
}

export class Filters {
  /** @param {Store} store @param {HTMLElement} column */
  constructor(store, column) {
    this.store = store;
    this.column = column;
    this.opener = find(document, "[data-open-filters]");
    this.boxes = findAll(column, "[data-bound]", HTMLInputElement).map((box) => ({ box, ...boundOf(box) }));
    for (const bound of this.boxes) bound.box.addEventListener("input", () => this.bound(bound));
    this.only = SWITCHES.map((name) => ({ name, box: find(column, `[name=${name}]`, HTMLInputElement) }));
    for (const { name, box } of this.only) box.addEventListener("change", () => store.set({ [name]: box.checked }));
    this.resetter = find(column, "[data-reset]");
    this.resetter.addEventListener("click", () => store.reset());
    this.none = find(column, "[data-no-families]");
    this.noFamilies = this.none.textContent;
    this.colour = find(column, "[data-colour]");
    this.colour.addEventListener("click", () => store.set({ colour: store.state.colour === "family" ? "verdict" : "family" }));
    this.legend = findAll(document, "[data-show]");
    for (const button of this.legend) button.addEventListener("click", () => this.toggleShow(Number(button.dataset.show)));
    this.shown = findAll(column, "[name=show]", HTMLInputElement);
    for (const box of this.shown) box.addEventListener("change", () => this.toggleShow(Number(box.value)));
    this.sheet();
    store.on("filter data colour", () => this.draw());
    this.draw();
  }

  /** Under 992 px the column is a sheet that covers the page. */
  sheet() {
    this.opener.addEventListener("click", () => {
      cover(this.column, true);
      find(this.column, "h2").focus();
    });
    for (const button of findAll(this.column, "[data-close-filters]")) {
      button.addEventListener("click", () => this.close());
    }
  }

  get covering() {
    return this.column.classList.contains("covering");
  }

  close() {
    cover(this.column, false);
    this.opener.focus();
  }

  /** @param {Bound & { box: HTMLInputElement }} bound */
  bound({ box, end, name }) {
    const value = typed(box.value);
    const wrong = Number.isNaN(value);
    box.toggleAttribute("aria-invalid", wrong);
    box.closest(".unit-box")?.classList.toggle("wrong", wrong);
    find(document, `#wrong-${name}`).hidden = !this.boxes.some((other) => other.name === name && other.box.hasAttribute("aria-invalid"));
    if (wrong) return;
    const bounds = { ...this.store.state[end] };
    if (value === null) delete bounds[name];
    else bounds[name] = value;
    this.store.set({ [end]: bounds });
  }

  /** @param {number} verdict */
  toggleShow(verdict) {
    const show = new Set(this.store.state.show);
    if (!show.delete(verdict)) show.add(verdict);
    this.store.set({ show });
  }

  draw() {
    const { state, lineups } = this.store;
    for (const { box, end, name } of this.boxes) {
      const j = lineups.objectives.findIndex((o) => o.name === name);
      if (lineups.count) box.placeholder = asTyped(lineups.extent[j][end === "min" ? 0 : 1], lineups.objectives[j].digits);
      if (document.activeElement !== box) box.value = String(state[end][name] ?? "");
    }
    for (const { name, box } of this.only) box.checked = state[name];
    for (const button of this.legend) {
      const verdict = Number(button.dataset.show);
      button.setAttribute("aria-pressed", String(state.show.has(verdict)));
      find(button, "b").textContent = whole(this.store.byVerdict[verdict]);
    }
    const key = findOptional(document, "[data-confirmed]");
    if (key) {
      const { length } = lineups.confirmed;
      key.hidden = !length;
      find(key, "b").textContent = whole(length);
    }
    for (const box of this.shown) {
      box.checked = state.show.has(Number(box.value));
      const count = box.parentElement?.querySelector("b");
      if (count) count.textContent = whole(this.store.byVerdict[Number(box.value)]);
    }
    this.resetter.hidden = !this.store.narrowed;
    this.colour.setAttribute("aria-pressed", String(state.colour === "family"));
    this.colour.textContent = state.colour === "family" ? "Colour the charts by verdict" : "Colour the charts by family";
    this.families();
    find(document, "[data-matches]").textContent = whole(this.store.order.length);
  }

  families() {
    const { lineups, byFamily, state } = this.store;
    const list = find(this.column, "[data-families]");
    const names = lineups.meta.families.map((f) => f.name);
    const most = Math.max(1, ...byFamily);
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute("data-family") : null;
    const shown = names.map((name, i) => ({ number: i + 1, name })).filter(({ number }) => byFamily[number] || state.family.has(number));
    list.replaceChildren(...shown.map(({ number, name }) => this.familyItem(number, name, byFamily[number], most, state.family.has(number))));
    if (byFamily[0] && names.length) list.append(this.familyItem(0, lineups.meta.explained ? "Hold none of these" : "Nothing unusual in common", byFamily[0], most, state.family.has(0)));
    findOptional(list, `[data-family="${focused}"]`)?.focus();
    this.none.hidden = shown.length > 0;
    this.none.textContent = names.length ? "No family has a lineup among those shown." : this.noFamilies;
    this.colour.hidden = names.length === 0;
  }

  /** @param {number} number @param {string} name @param {number} count @param {number} most @param {boolean} pressed */
  familyItem(number, name, count, most, pressed) {
    const bar = make("span", { class: `family-bar${number ? ` family-bar-${number}` : ""}`, hidden: !count });
    bar.style.setProperty("--share", String(count / most));
    const button = make("button", { type: "button", class: "family", "aria-pressed": String(pressed), "data-family": number },
      family(number), make("span", { class: "family-name" }, name),
      make("span", { class: "family-count" }, bar, make("span", {}, whole(count))));
    button.addEventListener("click", () => {
      const wanted = new Set(this.store.state.family);
      if (!wanted.delete(number)) wanted.add(number);
      this.store.set({ family: wanted });
    });
    return make("li", {}, button);
  }
}
