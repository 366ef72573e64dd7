// The whole explorer by keyboard. Single keys can be switched off, for people whose input arrives as speech.
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
  constructor({ table, drawer, filters, sheet, hover, help, search }) {
    Object.assign(this, { table, drawer, filters, sheet, hover, help, search, on: remembered() });
    const box = help.querySelector("[name=single-keys]");
    box.checked = this.on;
    box.addEventListener("change", () => {
      this.on = box.checked;
      try {
        localStorage.setItem(STORE_KEY, this.on ? "on" : "off");
      } catch {
        // for this page only, then
      }
    });
    help.querySelector("[data-close-help]").addEventListener("click", () => help.close());
    document.querySelector("[data-open-help]").addEventListener("click", () => help.showModal());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** The row under the pointer, or else the one the table means. */
  get row() {
    return this.hover.row >= 0 ? this.hover.row : this.table.row;
  }

  key(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || this.help.open) return;
    if (event.key === "Escape") return this.escape(event);
    if (!this.on || event.target.closest(TYPING)) return;
    const act = {
      "/": () => this.find(),
      j: () => this.walk(1),
      k: () => this.walk(-1),
      x: () => this.table.tick(this.row),
      s: () => this.row >= 0 && this.drawer.explain(this.row),
      l: () => this.moveLine(),
      "?": () => this.help.showModal(),
    }[event.key];
    const free = event.target === document.body || event.target.id === "main";
    if (act) act();
    else if (event.key === "Enter" && free && this.row >= 0) this.table.open(this.row, true);
    else return;
    event.preventDefault();
  }

  find() {
    this.filters.opener.offsetParent && this.filters.opener.click();
    this.search.focus();
  }

  moveLine() {
    const box = document.querySelector("[data-line-box]");
    if (!box) return;
    this.filters.opener.offsetParent && this.filters.opener.click();
    box.focus();
    box.select();
  }

  walk(step) {
    this.table.focus();
    this.table.go(this.table.active + step);
  }

  escape(event) {
    if (this.hover.row >= 0) this.hover.hide();
    else if (this.filters.covering) this.filters.close();
    else if (this.sheet.covering) this.sheet.close();
    else if (this.drawer.open) this.drawer.close();
    else return;
    event.preventDefault();
  }
}
