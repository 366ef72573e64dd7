// Everything about one lineup: how sure, its objectives with their ranges, its teams, and why to shortlist it.
import { inBrackets, lineText, percent, plural, whole } from "../charts/format.js";
import { family, mark, rangeBar } from "../marks.js";
import { field, find, findOptional, make, valueOf } from "../elements.js";
import { cover, narrow } from "./dom.js";
import { STRONG, UNDER, VERDICTS } from "./lineups.js";

const PICKED = "It was picked for looking extreme, so part of this may be luck.";
const ALIKE = "Too many of them came out alike, and the game does not say how far its numbers can go. So nobody knows how much one that comes out otherwise would change, and more of the same would not tell.";
/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
/** @import { Ends } from "../charts/format.js" */
/** @import { Drafts } from "./drafts.js" */
/** @import { Fresh } from "./lineups.js" */
/** @import { Shortlist } from "./shortlist.js" */
/** @import { Listed, Store } from "./store.js" */

/** What the search's battles say, in the words of the job; `wholly`: of a lineup whose whole range is over the line.
 * @type {Record<string, [(words: Record<string, string>, wholly: boolean) => string, css: string]>} */
const ADVICE = {
  strong: [({ over }) => `Found by the search: ${over}`, "advice advice-over"],
  weak: [({ over }, wholly) => wholly ? `${capital(over)}, but weak` : `On average ${over}, not sure yet; and weak`, "advice advice-unsure"],
  unsure: [({ over }, wholly) => wholly ? `${capital(over)}, but not sure yet whether it is strong` : `On average ${over}, but not sure yet`, "advice advice-unsure"],
  near: [({ under }) => `${under}; the 95 % range reaches across the line`, "advice"],
  under: [({ under }) => under, "advice"],
};
const MEANT = "Its strongest or its weakest team holds something that somebody of this project calls intended. It is played, but neither ranked nor counted.";
/** @type {Record<string, "strong" | "unsure" | "fair">} */
const FRESH_ADVICE = { confirmed: "strong", weak: "unsure", refuted: "fair", more: "unsure", close: "unsure", measured: "fair" };
const FRESH_CSS = { strong: "advice advice-over", unsure: "advice advice-unsure", fair: "advice" };

export class Drawer {
  /** @param {Store} store @param {HTMLElement} element @param {{ shortlist: Shortlist, drafts: Drafts }} page */
  constructor(store, element, { shortlist, drafts }) {
    this.store = store;
    this.element = element;
    this.shortlist = shortlist;
    this.drafts = drafts;
    this.title = find(element, "h2");
    this.content = find(element, "[data-drawer]");
    /** Only for who may write. */
    this.form = findOptional(element, "form", HTMLFormElement);
    /** Where the keyboard goes back to. @type {() => void} */
    this.back = () => {};
    store.on("pick data names listed line", () => this.show());
    find(element, "[data-close]").addEventListener("click", () => this.close());
    if (this.form) this.listen(this.form);
    this.show();
  }

  /** @param {HTMLFormElement} form */
  listen(form) {
    const reason = field(form, "reason", HTMLTextAreaElement);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const { pick } = this.store.state;
      if (pick === null) return;
      await this.shortlist.decide(pick, "add", form);
      if (this.open && document.activeElement === document.body) this.leave();
    });
    reason.addEventListener("input", () => {
      this.drafts.keep("reason", form.dataset.lineup ?? "", reason.value);
      this.sayDraft(form);
    });
  }

  /** Say that what is typed is kept, but not sent.
   * @param {HTMLFormElement} form */
  sayDraft(form) {
    find(form, "[data-draft]").hidden = !valueOf(form, "reason").trim();
  }

  get open() {
    return !this.element.hidden;
  }

  /** Close it; the keyboard goes back to where it came from. */
  close() {
    this.store.set({ pick: null });
    this.back();
  }

  /** The form is gone: the keyboard goes back to the row, or, where the details cover the table, to their title. */
  leave() {
    if (this.element.classList.contains("covering")) this.focus();
    else this.back();
  }

  focus() {
    this.title.focus();
  }

  show() {
    const row = this.store.picked;
    const was = this.open;
    this.element.hidden = row < 0 || !this.store.lineups.detailed;
    find(document, "[data-pick-hint]").hidden = this.open;
    if (narrow.matches || this.element.classList.contains("covering")) cover(this.element, this.open);
    if (!this.open) return;
    this.fill(row);
    if (!was && narrow.matches) this.focus();
  }

  /** @param {number} row */
  fill(row) {
    const { lineups, listed } = this.store;
    const id = lineups.id[row];
    this.title.textContent = lineups.name(row);
    find(this.element, "[data-family]").replaceChildren(...this.familyLine(row));
    this.content.replaceChildren(this.advice(row, id), this.ranges(row, id), ...this.teams(row));
    if (this.form) this.fillForm(this.form, id, listed.get(id));
  }

  /** @param {HTMLFormElement} form @param {number} id @param {Listed} [listed] */
  fillForm(form, id, listed) {
    const on = listed?.on ?? false;
    form.hidden = on;
    find(this.element, "[data-listed]").hidden = !on;
    find(this.element, "[data-listed] q").textContent = listed && on ? listed.reason : "";
    if (form.dataset.lineup !== String(id)) {
      form.dataset.lineup = String(id);
      field(form, "reason", HTMLTextAreaElement).value = this.drafts.read("reason", id);
      find(form, "[data-problem]").hidden = true;
    }
    this.sayDraft(form);
  }

  /** @param {number} row */
  familyLine(row) {
    const { lineups } = this.store;
    const number = lineups.family[row];
    const place = `Lineup ${lineups.id[row]}`;
    if (!number) return [make("span", {}, place)];
    return [family(number), make("span", {}, `Family: ${lineups.meta.families[number - 1].name}`)];
  }

  /** @param {number} row @param {number} id */
  advice(row, id) {
    const { lineups, hasLine } = this.store;
    const battles = plural(lineups.samples[row] * this.store.battlesOfSample, "battle");
    if (lineups.meant[row]) return make("div", { class: "advice" }, make("b", {}, lineups.meta.meant_words), make("p", {}, MEANT));
    const found = lineups.fresh.get(id);
    if (found && !lineups.moved) {
      const shape = FRESH_ADVICE[found.now.finding];
      const title = make("b", { class: "with-mark" }, mark(shape), found.words);
      return make("div", { class: FRESH_CSS[shape] }, title, make("p", {}, this.freshWords(found)));
    }
    if (!hasLine) return make("div", { class: "advice" }, make("p", {}, `${battles} so far. ${PICKED}`));
    const kind = VERDICTS[lineups.verdict[row]];
    const weak = lineups.weak(row);
    const [words, css] = ADVICE[weak ? "weak" : lineups.reachesOver(row) ? "near" : kind];
    const luck = found ? ` Its line was another one when they were played: it stood at ${this.ownLine()}.` : ` ${PICKED} ${this.next(id)}`;
    const more = lineups.verdict[row] === UNDER ? "" : weak ? ` ${this.faint()}` : luck;
    const title = `${words(lineups.words, lineups.isOver(row, true))}${lineups.moved ? ", by the moved line" : ""}`;
    const played = found ? `${found.now.battles.toLocaleString("en-GB")} fresh battles.` : `${battles} so far.`;
    return make("div", { class: css }, make("b", { class: "with-mark" }, mark(kind), title), make("p", {}, `${played}${more}`));
  }

  ownLine() {
    const { lineups, lined } = this.store;
    return lineText(lineups.ownLines[lined] ?? 0, lineups.objectives[lined]);
  }

  faint() {
    const who = this.store.lineups.teams > 1 ? "Its weakest team" : "It";
    return `${who} does worse than the median baseline team, so players would hardly field it.`;
  }

  /** @param {number} id */
  next(id) {
    const on = this.store.listed.get(id)?.on;
    return on ? "It is on the shortlist: re-check it on fresh battles." : "Shortlist it, then re-check on fresh battles.";
  }

  /** @param {Fresh} fresh @returns {string} */
  freshWords({ now, before, why }) {
    const { lineups, lined, strength } = this.store;
    const strong = strength >= 0 ? ", and its weakest team is stronger than the median baseline team" : "";
    const lucky = before.verdict === UNDER ? "" : ` The search had measured ${lineups.texts(before.mean[lined], null, lined).value}: that was partly luck.`;
    /** @type {Record<string, string>} */
    const words = {
      confirmed: `Fresh battles, which the search never saw, say the same: it is ${lineups.words.over}${strong}. ${find(document, "[data-false-alarms]").textContent}${why ? ` ${why}` : ""}`,
      weak: now.over ? `It is ${lineups.words.over} on fresh battles too. ${this.faint()}` : this.faint(),
      refuted: `On fresh battles the whole 95 % range misses the line. Of all lineups called so, at most 5 % are expected not to be.${lucky}`,
      more: "Still undecided. Re-check it to play more battles.",
      close: now.endless ? ALIKE : now.of === "strength" ? "That is within what the median baseline team may have, so more battles of this lineup would not tell." : "It lies so near that more battles would hardly tell. Treat it as on the line.",
      measured: "These numbers come from fresh battles, which the search never saw.",
    };
    return words[now.finding];
  }

  /** @param {number} row @param {number} id */
  ranges(row, id) {
    const box = make("div", { class: "ranges" });
    const found = this.store.lineups.fresh.get(id);
    this.order().forEach((j) => {
      box.append(this.range(row, j, found));
    });
    return box;
  }

  order() {
    const { lined, lineups } = this.store;
    return [lined, ...lineups.objectives.keys()].filter((j, i, all) => all.indexOf(j) === i);
  }

  /** @param {number} row @param {number} j @param {Fresh} [found] */
  range(row, j, found) {
    const { lineups, strength } = this.store;
    const objective = lineups.objectives[j];
    const value = lineups.value[j][row];
    const range = lineups.range(row, j);
    const line = objective.threshold ?? (j === strength ? (lineups.meta.median?.value ?? null) : null);
    const kind = objective.threshold === null ? (j === strength && lineups.verdict[row] === STRONG ? "fair" : "") : VERDICTS[lineups.verdict[row]];
    const parts = [this.line(objective.title, lineups.textsOf(row, j)), this.bar(value, range, j, line, kind === "under" ? "" : kind)];
    if (found) {
      const mean = found.before.mean[j];
      parts.push(this.line(`in the search, ${plural(found.before.samples, "replicate")}`, lineups.texts(mean, lineups.around(mean, found.before.half[j], j), j), "muted"));
    }
    return make("div", {}, ...parts);
  }

  /** @param {string} title @param {{ value: string, range: string }} texts @param {string} [css] */
  line(title, { value, range }, css = "") {
    return make("p", { class: "name-value" }, make("span", { class: css }, title),
      make("span", { class: css }, make(css ? "span" : "b", {}, value), make("span", { class: "muted" }, ` ${inBrackets(range)}`)));
  }

  /** @param {number} value
   * @param {Ends | null} range
   * @param {number} j
   * @param {number | null} line
   * @param {string} kind */
  bar(value, range, j, line, kind) {
    const [low, high] = range ?? [value, value];
    return rangeBar({ value, low, high, axis: this.store.lineups.span(j), line, kind });
  }

  /** @param {number} row */
  teams(row) {
    const { lineups } = this.store;
    const costs = lineups.costs(row);
    const cheapest = Math.min(...costs);
    const within = cheapest > 0 && costs.length > 1 ? `costs within ${percent((Math.max(...costs) - cheapest) / cheapest)}` : "";
    const words = ["", "The team", "The two teams", "The three teams", "The four teams"][costs.length] ?? `The ${costs.length} teams`;
    const list = make("ol", { class: "teams plain" }, ...costs.map((cost, team) => this.team(row, team, cost)));
    return [make("div", { class: "teams-head" }, make("h3", {}, words), make("span", { class: "muted" }, within)), list];
  }

  /** @param {number} row @param {number} team @param {number} cost */
  team(row, team, cost) {
    const { lineups } = this.store;
    const number = lineups.family[row];
    const shared = new Set(number ? lineups.meta.families[number - 1].pieces : []);
    const [strongest, weakest] = [lineups.anchor[2 * row], lineups.anchor[2 * row + 1]];
    const [lead, ...rest] = lineups.parts(row, team).map(({ piece, text }) =>
      team === strongest && shared.has(piece) ? make("mark", { class: "shared" }, text) : text);
    const place = lineups.teams === 1 ? "" : team === strongest ? "Strongest" : team === weakest ? "Weakest" : "Middle";
    const others = rest.flatMap((part, i) => (i ? [", ", part] : [part]));
    return make("li", {}, make("span", { class: "team-number", "aria-hidden": "true" }, String(team + 1)),
      make("span", { class: "team-parts" }, make("b", {}, lead ?? "Empty team"), make("span", { class: "muted d-block" }, ...others)),
      make("span", { class: "team-cost" }, make("b", {}, whole(cost)), make("span", { class: "muted d-block" }, place)));
  }

  /** Go to the box for the reason; opens the lineup first.
   * @param {number} row */
  explain(row) {
    this.store.set({ pick: this.store.lineups.id[row] });
    if (this.form) find(this.form, "textarea").focus();
  }
}
