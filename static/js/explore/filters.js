// The left column: number boxes, pieces, marks and families. Everything a drag in a chart can do is typed here.
import { asTyped, typed, whole } from "../charts/format.js";
import { family } from "../marks.js";
import { cover, make } from "./dom.js";

export class Filters {
  constructor(store, column) {
    Object.assign(this, { store, column });
    this.boxes = [...column.querySelectorAll("[data-bound]")];
    for (const box of this.boxes) box.addEventListener("input", () => this.bound(box));
    for (const name of ["best", "listed"]) {
      column.querySelector(`[name=${name}]`).addEventListener("change", ({ target }) => store.set({ [name]: target.checked }));
    }
    column.querySelector("[data-reset]").addEventListener("click", () => store.reset());
    this.noFamilies = column.querySelector("[data-no-families]").textContent;
    this.colour = column.querySelector("[data-colour]");
    this.colour.addEventListener("click", () => store.set({ colour: store.state.colour === "family" ? "verdict" : "family" }));
    this.legend = [...document.querySelectorAll("[data-show]")];
    for (const button of this.legend) button.addEventListener("click", () => this.toggleShow(Number(button.dataset.show)));
    this.shown = [...column.querySelectorAll("[name=show]")];
    for (const box of this.shown) box.addEventListener("change", () => this.toggleShow(Number(box.value)));
    this.sheet();
    store.on("filter data colour", () => this.draw());
    this.draw();
  }

  /** Under 992 px the column is a sheet that covers the page. */
  sheet() {
    const opener = document.querySelector("[data-open-filters]");
    opener.addEventListener("click", () => {
      cover(this.column, true);
      this.column.querySelector("h2").focus();
    });
    for (const button of this.column.querySelectorAll("[data-close-filters]")) {
      button.addEventListener("click", () => this.close());
    }
    this.opener = opener;
  }

  get covering() {
    return this.column.classList.contains("covering");
  }

  close() {
    cover(this.column, false);
    this.opener.focus();
  }

  bound(box) {
    const [end, name] = box.dataset.bound.split(":");
    const value = typed(box.value);
    const wrong = Number.isNaN(value);
    box.toggleAttribute("aria-invalid", wrong);
    box.closest(".unit-box").classList.toggle("wrong", wrong);
    document.getElementById(`wrong-${name}`).hidden = !this.boxes.some((b) => b.dataset.bound.endsWith(`:${name}`) && b.hasAttribute("aria-invalid"));
    if (wrong) return;
    const bounds = { ...this.store.state[end] };
    if (value === null) delete bounds[name];
    else bounds[name] = value;
    this.store.set({ [end]: bounds });
  }

  toggleShow(verdict) {
    const show = new Set(this.store.state.show);
    if (!show.delete(verdict)) show.add(verdict);
    this.store.set({ show });
  }

  draw() {
    const { state, lineups } = this.store;
    for (const box of this.boxes) {
      const [end, name] = box.dataset.bound.split(":");
      const j = lineups.objectives.findIndex((o) => o.name === name);
      if (lineups.count) box.placeholder = asTyped(lineups.extent[j][end === "min" ? 0 : 1], lineups.objectives[j].digits);
      if (document.activeElement !== box) box.value = state[end][name] ?? "";
    }
    for (const name of ["best", "listed"]) this.column.querySelector(`[name=${name}]`).checked = state[name];
    for (const button of this.legend) {
      const verdict = Number(button.dataset.show);
      button.setAttribute("aria-pressed", String(state.show.has(verdict)));
      button.querySelector("b").textContent = whole(this.store.byVerdict[verdict]);
    }
    for (const box of this.shown) {
      box.checked = state.show.has(Number(box.value));
      box.parentElement.querySelector("b").textContent = whole(this.store.byVerdict[Number(box.value)]);
    }
    this.column.querySelector("[data-reset]").hidden = !this.store.narrowed;
    this.colour.setAttribute("aria-pressed", String(state.colour === "family"));
    this.colour.textContent = state.colour === "family" ? "Colour the charts by verdict" : "Colour the charts by family";
    this.families();
    document.querySelector("[data-matches]").textContent = whole(this.store.order.length);
  }

  families() {
    const { lineups, byFamily, state } = this.store;
    const list = this.column.querySelector("[data-families]");
    const names = lineups.meta.families.map((f) => f.name);
    const most = Math.max(1, ...byFamily);
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.family : null;
    const shown = names.map((name, i) => [i + 1, name]).filter(([number]) => byFamily[number] || state.family.has(number));
    list.replaceChildren(...shown.map(([number, name]) => this.familyItem(number, name, byFamily[number], most, state.family.has(number))));
    if (byFamily[0] && names.length) list.append(this.familyItem(0, "Share nothing unusual", byFamily[0], most, state.family.has(0)));
    list.querySelector(`[data-family="${focused}"]`)?.focus();
    const none = this.column.querySelector("[data-no-families]");
    none.hidden = shown.length > 0;
    none.textContent = names.length ? "No family has a lineup among those shown." : this.noFamilies;
    this.colour.hidden = names.length === 0;
  }

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
