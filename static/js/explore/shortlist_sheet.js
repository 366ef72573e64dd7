// On a small screen the shortlist is a sheet, which a bar at the bottom opens from anywhere on the page.
import { cover, narrow } from "./dom.js";
import { whole } from "../charts/format.js";

export class ShortlistSheet {
  constructor(store, card) {
    Object.assign(this, { store, card, opener: document.querySelector("[data-open-shortlist]") });
    this.opener.addEventListener("click", () => this.open());
    card.querySelector("[data-close-shortlist]").addEventListener("click", () => this.close());
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
    this.opener.querySelector("span").textContent = count ? `Shortlist (${whole(count)})` : "Shortlist";
  }

  open() {
    cover(this.card, true);
    this.card.querySelector("[data-close-shortlist]").focus();
  }

  close() {
    cover(this.card, false);
    this.opener.focus();
  }
}
