// Everything about one lineup: how sure, its objectives with their ranges, its teams, and why to shortlist it.
import { decimals, inBrackets, lineText, plural, whole } from "../charts/format.js";
import { family, mark, rangeBar } from "../marks.js";
import { cover, make, narrow } from "./dom.js";
import { STRONG, UNDER, VERDICTS } from "./lineups.js";

const PICKED = "It was picked for looking extreme, so part of this may be luck.";
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const ADVICE = {
  strong: [({ over }) => `Found by the search: ${over}`, "advice advice-over"],
  weak: [({ over }) => `${capital(over)}, but weak`, "advice advice-unsure"],
  unsure: [({ over }) => `${capital(over)}, but not sure yet`, "advice advice-unsure"],
  near: [({ under }) => `${under} on average; the 95 % range reaches across the line`, "advice"],
  under: [({ under }) => under, "advice"],
};
const FRESH_ADVICE = { confirmed: "strong", weak: "unsure", refuted: "fair", more: "unsure", close: "unsure", measured: "fair" };
const FRESH_CSS = { strong: "advice advice-over", unsure: "advice advice-unsure", fair: "advice" };

export class Drawer {
  constructor(store, element, { canWrite, shortlist, drafts }) {
    Object.assign(this, { store, element, canWrite, shortlist, drafts });
    this.content = element.querySelector("[data-drawer]");
    this.form = element.querySelector("form");
    store.on("pick data names listed line", () => this.show());
    element.querySelector("[data-close]").addEventListener("click", () => this.close());
    this.back = () => null;
    this.form?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.shortlist.decide(this.store.state.pick, "add", this.form);
    });
    this.form?.elements.reason.addEventListener("input", ({ target }) => {
      this.drafts.keep("reason", this.form.dataset.lineup, target.value);
      this.sayDraft();
    });
    this.show();
  }

  /** Say that what is typed is kept, but not sent. */
  sayDraft() {
    this.form.querySelector("[data-draft]").hidden = !this.form.elements.reason.value.trim();
  }

  get open() {
    return !this.element.hidden;
  }

  /** Close it; the keyboard goes back to where it came from. */
  close() {
    this.store.set({ pick: null });
    this.back();
  }

  focus() {
    this.element.querySelector("h2").focus();
  }

  show() {
    const row = this.store.picked;
    const was = this.open;
    this.element.hidden = row < 0 || !this.store.lineups.detailed;
    document.querySelector("[data-pick-hint]").hidden = this.open;
    if (narrow.matches || this.element.classList.contains("covering")) cover(this.element, this.open);
    if (!this.open) return;
    this.fill(row);
    if (!was && narrow.matches) this.focus();
  }

  fill(row) {
    const { lineups, listed } = this.store;
    const id = lineups.id[row];
    this.element.querySelector("h2").textContent = lineups.name(row);
    this.element.querySelector("[data-family]").replaceChildren(...this.familyLine(row));
    this.content.replaceChildren(this.advice(row, id), this.ranges(row, id), ...this.teams(row));
    if (!this.form) return;
    const on = listed.get(id)?.on ?? false;
    this.form.hidden = on;
    this.element.querySelector("[data-listed]").hidden = !on;
    this.element.querySelector("[data-listed] q").textContent = on ? listed.get(id).reason : "";
    if (this.form.dataset.lineup !== String(id)) {
      this.form.dataset.lineup = id;
      this.form.elements.reason.value = this.drafts.read("reason", id);
      this.form.querySelector("[data-problem]").hidden = true;
    }
    this.sayDraft();
  }

  familyLine(row) {
    const { lineups } = this.store;
    const number = lineups.family[row];
    const place = `Lineup ${lineups.id[row]}`;
    if (!number) return [make("span", {}, place)];
    return [family(number), make("span", {}, `Family: ${lineups.meta.families[number - 1].name}`)];
  }

  advice(row, id) {
    const { lineups, hasLine } = this.store;
    const battles = plural(lineups.samples[row] * this.store.battlesOfSample, "battle");
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
    const title = `${words(lineups.words)}${lineups.moved ? ", by the moved line" : ""}`;
    const played = found ? `${found.now.battles.toLocaleString("en-GB")} fresh battles.` : `${battles} so far.`;
    return make("div", { class: css }, make("b", { class: "with-mark" }, mark(kind), title), make("p", {}, `${played}${more}`));
  }

  ownLine() {
    const { lineups, lined } = this.store;
    return lineText(lineups.ownLines[lined], lineups.objectives[lined]);
  }

  faint() {
    const who = this.store.lineups.teams > 1 ? "Its weakest team" : "It";
    return `${who} does worse than the middle baseline team, so players would hardly field it.`;
  }

  next(id) {
    const on = this.store.listed.get(id)?.on;
    return on ? "It is on the shortlist: re-check it on fresh battles." : "Shortlist it, then re-check on fresh battles.";
  }

  freshWords({ now, before, why }) {
    const { lineups, lined, strength } = this.store;
    const strong = strength >= 0 ? ", and its weakest team above the middle baseline team" : "";
    const lucky = before.verdict === UNDER ? "" : ` The search had measured ${lineups.told(before.mean[lined], null, lined).value}: that was partly luck.`;
    return {
      confirmed: `Fresh battles, which the search never saw, say the same: it is ${lineups.words.over}${strong}. Of lineups confirmed like this, 1 in 20 at most is expected to be a false alarm.${why ? ` ${why}` : ""}`,
      weak: now.over ? `It is ${lineups.words.over} on fresh battles too. ${this.faint()}` : this.faint(),
      refuted: `On fresh battles the whole 95 % range misses the line.${lucky}`,
      more: "Fresh battles do not tell yet. It takes about so many more; re-check it to play them.",
      close: now.of === "strength" ? "That is within what the median baseline team may have, so more battles of this lineup would not tell." : "It lies so near that more battles would hardly tell. Treat it as on the line.",
      measured: "These numbers come from fresh battles, which the search never saw.",
    }[now.finding];
  }

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

  range(row, j, found) {
    const { lineups, strength } = this.store;
    const objective = lineups.objectives[j];
    const value = lineups.value[j][row];
    const range = lineups.range(row, j);
    const line = objective.threshold ?? (j === strength ? (lineups.meta.median?.value ?? null) : null);
    const kind = objective.threshold === null ? (j === strength && lineups.verdict[row] === STRONG ? "fair" : "") : VERDICTS[lineups.verdict[row]];
    const parts = [this.line(objective.title, lineups.toldOf(row, j)), this.bar(value, range, j, line, kind === "under" ? "" : kind)];
    if (found) {
      const mean = found.before.mean[j];
      parts.push(this.line("in the search", lineups.told(mean, lineups.around(mean, found.before.half[j], j), j), "muted"));
    }
    return make("div", {}, ...parts);
  }

  line(title, { value, range }, css = "") {
    return make("p", { class: "name-value" }, make("span", { class: css }, title),
      make("span", { class: css }, make(css ? "span" : "b", {}, value), make("span", { class: "muted" }, ` ${inBrackets(range)}`)));
  }

  bar(value, range, j, line, kind) {
    const [low, high] = range ?? [value, value];
    return rangeBar({ value, low, high, axis: this.store.lineups.extent[j], line, kind });
  }

  teams(row) {
    const { lineups } = this.store;
    const costs = lineups.costs(row);
    const cheapest = Math.min(...costs);
    const within = cheapest > 0 && costs.length > 1 ? `costs within ${decimals((100 * (Math.max(...costs) - cheapest)) / cheapest, 1)} %` : "";
    const words = ["", "The team", "The two teams", "The three teams", "The four teams"][costs.length] ?? `The ${costs.length} teams`;
    const list = make("ol", { class: "teams plain" }, ...costs.map((cost, team) => this.team(row, team, cost)));
    return [make("div", { class: "teams-head" }, make("h3", {}, words), make("span", { class: "muted" }, within)), list];
  }

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

  /** Go to the box for the reason; opens the lineup first. */
  explain(row) {
    this.store.set({ pick: this.store.lineups.id[row] });
    this.form?.querySelector("textarea")?.focus();
  }
}
