// The line, and what moves it: a number box and a slider, by pointer or keyboard. Everything else follows the store.
// The job keeps its own line; who may write can keep the moved one for later searches of the project.
import { asTyped, lineText, percent, places, plural, shareText, typed, whole, wilson } from "../charts/format.js";
import { toast } from "../toast.js";

import { find, findAll, findOptional } from "../elements.js";
/** @import { Config } from "./main.js" */
/** @import { Shortlist } from "./shortlist.js" */
/** @import { Store } from "./store.js" */

/** The controls of the line of objective `j`. @typedef {{ j: number, box: HTMLInputElement, slider: HTMLInputElement,
 *   said: HTMLElement, moved: HTMLElement, wrong: HTMLElement, keep: HTMLElement | null }} Part */

const STEPS = 200; // of the slider, at least, from end to end

export class LineControl {
  /** @param {Store} store @param {Config} config @param {Shortlist} shortlist */
  constructor(store, config, shortlist) {
    this.store = store;
    this.config = config;
    this.shortlist = shortlist;
    /** The lines that later searches begin with, by objective. */
    this.later = config.later ?? {};
    this.parts = findAll(document, "[data-line]").map((element) => this.part(element));
    this.note = findOptional(document, "[data-line-moved]");
    if (this.note) find(this.note, "[data-line-back]").addEventListener("click", () => store.set({ line: {} }));
    store.on("line data", () => this.draw());
    this.draw();
  }

  /** @param {HTMLElement} element @returns {Part} */
  part(element) {
    const j = this.store.lineups.objectives.findIndex((o) => o.name === element.dataset.line);
    const at = (/** @type {string} */ name) => find(element, `[data-line-${name}]`);
    const box = find(element, "[data-line-box]", HTMLInputElement);
    const slider = find(element, "[data-line-slider]", HTMLInputElement);
    const keep = findOptional(element, "[data-line-keep]");
    const found = { j, box, slider, said: at("said"), moved: at("changed"), wrong: at("wrong"), keep };
    found.box.addEventListener("input", () => this.typed(found));
    found.slider.addEventListener("input", () => this.store.moveLine(j, Number(neat(Number(found.slider.value)))));
    at("reset").addEventListener("click", () => {
      this.store.moveLine(j, null);
      found.box.focus();
    });
    keep?.addEventListener("click", () => this.keep(keep, found));
    return found;
  }

  /** @param {Part} part */
  typed({ j, box, wrong }) {
    const value = typed(box.value);
    const isWrong = value === null || Number.isNaN(value);
    box.toggleAttribute("aria-invalid", isWrong);
    box.closest(".unit-box")?.classList.toggle("wrong", isWrong);
    wrong.hidden = !isWrong;
    if (!isWrong) this.store.moveLine(j, value);
  }

  draw() {
    for (const part of this.parts) this.drawPart(part);
    const { lineups } = this.store;
    if (!this.note) return;
    this.note.hidden = !lineups.moved;
    const words = lineups.objectives.flatMap((o, j) => {
      const own = lineups.ownLines[j];
      if (own === null || o.threshold === null || o.threshold === own) return [];
      return `The line of ${o.title.toLowerCase()} is moved to ${lineText(o.threshold, o)}; the job’s own is ${lineText(own, o)}.`;
    });
    find(this.note, "span").textContent = words.join(" ");
  }

  /** @param {Part} part */
  drawPart({ j, box, slider, said, moved, wrong, keep }) {
    const { lineups, overLine, wholly } = this.store;
    const objective = lineups.objectives[j];
    const [at, own] = [objective.threshold, lineups.ownLines[j]];
    if (at === null || own === null) return; // only an objective with a line has such a part
    if (lineups.count) this.scale(slider, lineups.extent[j], at, own);
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", lineText(at, objective));
    if (document.activeElement !== box) {
      box.value = asTyped(at, Math.max(objective.digits, places(at)));
      box.removeAttribute("aria-invalid");
      box.closest(".unit-box")?.classList.remove("wrong");
      wrong.hidden = true;
    }
    const share = lineups.count ? ` (${percent(overLine / lineups.count)})` : "";
    const sure = overLine ? `, ${wholly ? whole(wholly) : "none"} of them across the whole 95 % range` : "";
    const counted = `On average ${whole(overLine)} of ${whole(lineups.count)} lineups that the search played are ${lineups.words.over}${share}${sure}.`;
    said.textContent = [counted, this.open(), this.usual()].filter(Boolean).join(" ");
    moved.hidden = at === own;
    const isKept = this.later[objective.name] === at;
    const later = isKept ? " Later searches begin with this one." : "";
    find(moved, "[data-line-own]").textContent = `Moved. The job’s line is ${lineText(own, objective)}.${later}`;
    if (keep) keep.hidden = isKept;
  }

  /** How many fresh battles leave open, counted as in reports, and how many of those are not over the line on average. */
  open() {
    const { close, lineups, open } = this.store;
    if (lineups.moved || !open) return "";
    const settled = "Fresh battles have not settled";
    if (close >= open) return `${settled} ${whole(open)} more.`;
    if (!close) return `${settled} ${whole(open)} of these.`;
    return `${settled} ${plural(open, "lineup")}. ${whole(close)} of them ${close === 1 ? "is" : "are"} not ${lineups.words.over} on average.`;
  }

  /** How usual it is among random lineups: the search's own share says how hard it looked. */
  usual() {
    const { lined, random: { over, all }, strength } = this.store;
    if (!all || all === this.store.lineups.count) return "";
    const either = strength >= 0 && strength !== lined ? ", strong or weak" : "";
    return `Of the ${whole(all)} random ones it began with (a different sample from the one on New job): ${whole(over)} ${this.store.lineups.words.over} on average${either}, ${shareText(over / all, wilson(over, all))}.`;
  }

  /** From the least to the most that was measured; the job's own line is always on it.
   * @param {HTMLInputElement} slider @param {number[]} extent @param {number} line @param {number} own */
  scale(slider, [low, high], line, own) {
    const span = high - low || Math.abs(high) || 1;
    const step = 10 ** Math.floor(Math.log10(span / STEPS));
    const least = down(Math.min(low, own, line), step);
    const most = -down(-Math.max(high, own, line), step);
    Object.assign(slider, { min: neat(least), max: neat(most), step: neat(step) });
  }

  /** @param {HTMLElement} button @param {Part} part */
  async keep(button, { j }) {
    const { name, threshold } = this.store.lineups.objectives[j];
    button.setAttribute("aria-busy", "true");
    const state = await this.shortlist.post(this.config.line, { objective: name, line: threshold });
    button.removeAttribute("aria-busy");
    if (state.later) this.later = state.later;
    this.draw();
    toast(state.error ?? state.said ?? "", { problem: Boolean(state.error) });
  }
}

/** @param {number} value */
const neat = (value) => String(Number(value.toPrecision(9)));
/** @param {number} value @param {number} step */
const down = (value, step) => Math.floor(value / step) * step;
