// The card beside the pointer: which lineup this is, how unfair with its range, and what keys do.
import { plural, rangeText, withUnit } from "../charts/format.js";
import { mark } from "../marks.js";
import { make } from "./dom.js";
import { KINDS } from "./lineups.js";

const GAP = 16;

export class HoverCard {
  constructor(store, element) {
    Object.assign(this, { store, element, row: -1 });
    store.on("filter data view", () => this.hide());
  }

  /** Show the card of `row` beside its mark in `panel`; -1 hides it. */
  show(row, panel, pointer = "mouse") {
    panel.canvas.style.cursor = row >= 0 ? "pointer" : "";
    if (row < 0 || pointer === "touch") return this.hide();
    if (row !== this.row) this.fill(row);
    this.row = row;
    this.element.hidden = false;
    const bounds = panel.canvas.getBoundingClientRect();
    const { x, y, xs, ys, ratio } = panel.last;
    const left = bounds.left + x.place(xs[row]) / ratio;
    const top = bounds.top + y.place(ys[row]) / ratio;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const toLeft = left + GAP + width > document.documentElement.clientWidth - 8;
    const below = top + GAP + height < window.innerHeight - 8;
    this.element.style.left = `${Math.max(8, toLeft ? left - GAP - width : left + GAP)}px`;
    this.element.style.top = `${Math.max(8, below ? top + GAP : top - GAP - height)}px`;
    return undefined;
  }

  hide() {
    this.element.hidden = true;
    this.row = -1;
  }

  fill(row) {
    const { lineups, lined } = this.store;
    const objective = lineups.objectives[lined];
    const value = withUnit(lineups.value[lined][row], objective);
    const fresh = lineups.fresh.has(lineups.id[row]) ? "fresh battle" : "battle";
    const played = plural(lineups.samples[row] * this.store.battlesOfSample, fresh);
    this.element.replaceChildren(
      make("b", {}, lineups.name(row) || `Lineup ${lineups.id[row]}`),
      make("p", { class: "with-mark" }, mark(KINDS[lineups.kind[row]]),
        make("span", {}, make("b", {}, value), ` ${rangeText(lineups.range(row, lined), objective)} · ${played}`)),
      make("p", { class: "muted" }, "Enter opens it, S shortlists it"),
    );
  }
}
