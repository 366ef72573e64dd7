// Which pieces a lineup must contain.
import { closest, find, make } from "../elements.js";
import { icon } from "./dom.js";
/** @import { Meta } from "./lineups.js" */
/** @import { Store } from "./store.js" */

/** @typedef {Meta["pieces"][number]} Piece */

/** Lineups that contain a piece: type part of its name, choose; each choice is a chip that can be taken off. */
export class PieceSearch {
  /** @param {Store} store @param {HTMLElement} element */
  constructor(store, element) {
    this.store = store;
    this.active = -1;
    /** @type {Piece[]} */
    this.found = [];
    this.input = find(element, "input", HTMLInputElement);
    this.list = find(element, "[role=listbox]");
    this.chips = find(element, "[data-pieces]");
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("focus", () => this.input.value && this.search());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the box keeps the focus
      const option = closest(event.target, "[role=option]");
      if (option) this.choose(this.found[Number(option.dataset.at)]);
    });
    store.on("filter", () => this.draw());
    this.draw();
  }

  search() {
    const wanted = this.input.value.trim().toLowerCase();
    const { pieces } = this.store.lineups.meta;
    const words = (/** @type {Piece} */ piece) => piece.name.toLowerCase();
    const hits = pieces.filter((p) => words(p).includes(wanted) && !this.store.state.piece.has(p.id));
    hits.sort((a, b) => Number(!words(a).startsWith(wanted)) - Number(!words(b).startsWith(wanted)));
    this.found = wanted ? hits.slice(0, 8) : [];
    this.active = this.found.length ? 0 : -1;
    this.options();
  }

  options() {
    const { categories } = this.store.lineups.meta;
    const none = make("li", { class: "muted", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "No piece is called that");
    const options = this.found.map((piece, at) => make("li",
      { role: "option", id: `piece-${at}`, "data-at": at, "aria-selected": String(at === this.active) },
      make("span", {}, piece.name), make("span", { class: "muted" }, categories[piece.category] ?? "")));
    this.list.replaceChildren(...(options.length ? options : [none]));
    this.list.hidden = !this.input.value.trim();
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    if (this.active >= 0) this.input.setAttribute("aria-activedescendant", `piece-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape" && !this.list.hidden) {
      event.stopPropagation();
      return this.close();
    }
    if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      return this.choose(this.found[this.active]);
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && this.found.length) {
      event.preventDefault();
      this.active = (this.active + step + this.found.length) % this.found.length;
      this.options();
    }
    return undefined;
  }

  /** @param {Piece} piece */
  choose(piece) {
    this.input.value = "";
    this.close();
    this.store.set({ piece: new Set(this.store.state.piece).add(piece.id) });
  }

  draw() {
    const { pieces } = this.store.lineups.meta;
    const chips = [...this.store.state.piece].map((id) => {
      const name = pieces.find((p) => p.id === id)?.name ?? id;
      const off = make("button", { type: "button", class: "chip chip-accent piece-chip", "aria-label": `Take off the filter ${name}` }, name, icon("x", 16));
      off.addEventListener("click", () => {
        const rest = new Set(this.store.state.piece);
        rest.delete(id);
        this.store.set({ piece: rest });
        this.input.focus();
      });
      return off;
    });
    this.chips.replaceChildren(...chips);
  }
}
