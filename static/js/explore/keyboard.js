// The whole explorer by keyboard. Single keys can be switched off, for people whose input arrives as speech.
import { closest, find, findOptional } from "../elements.js";
/** @import { Drawer } from "./drawer.js" */
/** @import { Filters } from "./filters.js" */
/** @import { HoverCard } from "./hover.js" */
/** @import { ShortlistSheet } from "./shortlist_sheet.js" */
/** @import { Table } from "./table.js" */

/** What keys act on. @typedef {{ table: Table, drawer: Drawer, filters: Filters, sheet: ShortlistSheet, hover: HoverCard,
 *   help: HTMLDialogElement, search: HTMLInputElement }} Parts */

const STORE_KEY = "equipoise-single-keys";
const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

const remembered = () => {
  try {
    return localStorage.getItem(STORE_KEY) !== "off";
  } catch {
    return true; // storage is switched off: shortcuts stay on
  }
};

export class Keyboard {
  /** @param {Parts} parts */
  constructor({ table, drawer, filters, sheet, hover, help, search }) {
    this.table = table;
    this.drawer = drawer;
    this.filters = filters;
    this.sheet = sheet;
    this.hover = hover;
    this.help = help;
    this.search = search;
    this.on = remembered();
    const box = find(help, "[name=single-keys]", HTMLInputElement);
    box.checked = this.on;
    box.addEventListener("change", () => {
      this.on = box.checked;
      try {
        localStorage.setItem(STORE_KEY, this.on ? "on" : "off");
      } catch {
        // for this page only, then
      }
    });
    find(help, "[data-close-help]").addEventListener("click", () => help.close());
    find(document, "[data-open-help]").addEventListener("click", () => help.showModal());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** The row under the pointer, or else the one the table means. */
  get row() {
    return this.hover.row >= 0 ? this.hover.row : this.table.row;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || this.help.open) return;
    if (event.key === "Escape") return this.escape(event);
    const { target } = event;
    if (!this.on || closest(target, TYPING)) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      "/": () => this.find(),
      j: () => this.walk(1),
      k: () => this.walk(-1),
      x: () => this.table.tick(this.row),
      s: () => {
        if (this.row >= 0) this.drawer.explain(this.row);
      },
      l: () => this.moveLine(),
      t: () => this.walk(0),
      "?": () => this.help.showModal(),
    };
    const free = target === document.body || (target instanceof Element && target.id === "main");
    if (Object.hasOwn(acts, event.key)) acts[event.key]();
    else if (event.key === "Enter" && free && this.row >= 0) this.table.open(this.row, true);
    else return;
    event.preventDefault();
  }

  find() {
    this.filters.opener.offsetParent && this.filters.opener.click();
    this.search.focus();
  }

  moveLine() {
    const box = findOptional(document, "[data-line-box]", HTMLInputElement);
    if (!box) return;
    this.filters.opener.offsetParent && this.filters.opener.click();
    box.focus();
    box.select();
  }

  /** @param {number} step */
  walk(step) {
    this.table.focus();
    this.table.go(this.table.active + step);
  }

  /** @param {KeyboardEvent} event */
  escape(event) {
    if (this.hover.row >= 0) this.hover.hide();
    else if (this.filters.covering) this.filters.close();
    else if (this.sheet.covering) this.sheet.close();
    else if (this.drawer.open) this.drawer.close();
    else return;
    event.preventDefault();
  }
}
