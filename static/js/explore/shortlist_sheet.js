// On a small screen the shortlist is a sheet, which a bar at the bottom opens from anywhere on the page.
import { find } from "../elements.js";
import { cover, narrow } from "./dom.js";
import { whole } from "../charts/format.js";
/** @import { Store } from "./store.js" */

export class ShortlistSheet {
  /** @param {Store} store @param {HTMLElement} card */
  constructor(store, card) {
    this.store = store;
    this.card = card;
    this.opener = find(document, "[data-open-shortlist]");
    this.closer = find(card, "[data-close-shortlist]");
    this.opener.addEventListener("click", () => this.open());
    this.closer.addEventListener("click", () => this.close());
    store.on("listed", () => this.say());
    store.on("pick", () => store.state.pick !== null && this.covering && cover(card, false)); // the lineup covers the page now
    narrow.addEventListener("change", () => this.covering && !narrow.matches && cover(card, false));
    this.say();
  }

  get covering() {
    return this.card.classList.contains("covering");
  }

  say() {
    const count = [...this.store.listed.values()].filter(({ on }) => on).length;
    find(this.opener, "span").textContent = count ? `Shortlist (${whole(count)})` : "Shortlist";
  }

  open() {
    cover(this.card, true);
    this.closer.focus();
  }

  close() {
    cover(this.card, false);
    this.opener.focus();
  }
}
