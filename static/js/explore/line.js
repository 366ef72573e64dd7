// The line, and what moves it: a number box and a slider, by pointer or keyboard. Everything else follows the store.
// The job keeps its own line; who may write can keep the moved one for later searches of the project.
import { asTyped, decimals, lineText, places, typed, whole, wilson } from "../charts/format.js";
import { toast } from "../toast.js";

const STEPS = 200; // of the slider, at least, from end to end

export class LineControl {
  constructor(store, config, shortlist) {
    Object.assign(this, { store, config, shortlist, later: config.later ?? {} });
    this.parts = [...document.querySelectorAll("[data-line]")].map((element) => this.part(element));
    this.note = document.querySelector("[data-line-moved]");
    this.note?.querySelector("[data-line-back]").addEventListener("click", () => store.set({ line: {} }));
    store.on("line data", () => this.draw());
    this.draw();
  }

  part(element) {
    const j = this.store.lineups.objectives.findIndex((o) => o.name === element.dataset.line);
    const find = (name) => element.querySelector(`[data-line-${name}]`);
    const found = { element, j, box: find("box"), slider: find("slider"), said: find("said"), moved: find("changed"), wrong: find("wrong"), keep: find("keep") };
    found.box.addEventListener("input", () => this.typed(found));
    found.slider.addEventListener("input", () => this.store.moveLine(j, Number(neat(Number(found.slider.value)))));
    find("reset").addEventListener("click", () => {
      this.store.moveLine(j, null);
      found.box.focus();
    });
    found.keep?.addEventListener("click", (event) => this.keep(event.currentTarget, found));
    return found;
  }

  typed({ j, box, wrong }) {
    const value = typed(box.value);
    const isWrong = value === null || Number.isNaN(value);
    box.toggleAttribute("aria-invalid", isWrong);
    box.closest(".unit-box").classList.toggle("wrong", isWrong);
    wrong.hidden = !isWrong;
    if (!isWrong) this.store.moveLine(j, value);
  }

  draw() {
    for (const part of this.parts) this.drawPart(part);
    const { lineups } = this.store;
    if (!this.note) return;
    this.note.hidden = !lineups.moved;
    const words = lineups.objectives.map((o, j) => [o, lineups.ownLines[j]]).filter(([o, own]) => o.threshold !== own)
      .map(([o, own]) => `The line of ${o.title.toLowerCase()} is moved to ${lineText(o.threshold, o)}; the job’s own is ${lineText(own, o)}.`);
    this.note.querySelector("span").textContent = words.join(" ");
  }

  drawPart({ j, box, slider, said, moved, wrong, keep }) {
    const { lineups, overLine, wholly, close } = this.store;
    const objective = lineups.objectives[j];
    const [at, own] = [objective.threshold, lineups.ownLines[j]];
    if (lineups.count) this.scale(slider, lineups.extent[j], objective, own);
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", lineText(at, objective));
    if (document.activeElement !== box) {
      box.value = asTyped(at, Math.max(objective.digits, places(at)));
      box.removeAttribute("aria-invalid");
      box.closest(".unit-box").classList.remove("wrong");
      wrong.hidden = true;
    }
    const share = lineups.count ? ` (${decimals((100 * overLine) / lineups.count, 1)}\u00a0%)` : "";
    const sure = overLine ? `, ${wholly ? whole(wholly) : "none"} of them with the whole 95 % range` : "";
    const open = close ? `; fresh battles leave ${whole(close)} more open` : "";
    said.textContent = `On average ${whole(overLine)} of ${whole(lineups.count)} lineups that the search played are ${lineups.words.over}${share}${sure}${open}${this.usual()}`;
    moved.hidden = at === own;
    const isKept = this.later[objective.name] === at;
    const later = isKept ? " Later searches begin with this one." : "";
    moved.querySelector("[data-line-own]").textContent = `Moved. The job’s line is ${lineText(own, objective)}.${later}`;
    if (keep) keep.hidden = isKept;
  }

  /** How usual it is among random lineups: the search's own share says how hard it looked. */
  usual() {
    const { over, all } = this.store.random;
    if (!all || all === this.store.lineups.count) return "";
    const [low, high] = wilson(over, all).map((share) => decimals(100 * share, 0));
    return `. Of the ${whole(all)} random ones it began with: ${whole(over)}, ${decimals((100 * over) / all, 1)}\u00a0% (${low} to ${high}\u00a0%)`;
  }

  /** From the least to the most that was measured; the job's own line is always on it. */
  scale(slider, [low, high], { threshold }, own) {
    const span = high - low || Math.abs(high) || 1;
    const step = 10 ** Math.floor(Math.log10(span / STEPS));
    const least = down(Math.min(low, own, threshold), step);
    const most = -down(-Math.max(high, own, threshold), step);
    Object.assign(slider, { min: neat(least), max: neat(most), step: neat(step) });
  }

  async keep(button, { j }) {
    const { name, threshold } = this.store.lineups.objectives[j];
    button.setAttribute("aria-busy", "true");
    const state = await this.shortlist.post(this.config.line, { objective: name, line: threshold });
    button.removeAttribute("aria-busy");
    if (state.later) this.later = state.later;
    this.draw();
    toast(state.error ?? state.said, { problem: Boolean(state.error) });
  }
}

const neat = (value) => String(Number(value.toPrecision(9)));
const down = (value, step) => Math.floor(value / step) * step;
