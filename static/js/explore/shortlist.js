// Decisions: written down on the server, one after the other, never changed. What comes back is the list as it is now.
import { lineText, plural } from "../charts/format.js";
import { mark } from "../marks.js";
import { toast } from "../toast.js";
import { closest, field, find, findAll, findOptional } from "../elements.js";
import { setDisabled } from "./dom.js";
import { VERDICTS } from "./lineups.js";

/** @import { Drafts } from "./drafts.js" */
/** @import { Config } from "./main.js" */
/** @import { Listed, Store } from "./store.js" */

/** What the server says of the shortlist, or why not. `due` and `settled`: lineups that fresh battles would tell more of, and
 * those that they have told of; `replay`: what the button would do; `said`: what was done; `later`: of Config.
 * @typedef {{ error?: string, said?: string, html?: string, listed?: Record<string, Listed>, due?: number[], settled?: number[],
 *   checking?: boolean, replay?: string, later?: Record<string, number> }} Answer */
/** A list entry as the server made it. @typedef {{ shape: Node[], words: string, css: string }} Own */

/** @type {Record<string, string>} */
const DONE = { add: "On the shortlist.", withdraw: "Taken off the shortlist. What was said about it stays.", remark: "Remark added." };
/** @type {Record<string, string>} */
const WORDS_CSS = { under: "", unsure: "text-unsure", strong: "text-over" };

export class Shortlist {
  /** @param {Store} store @param {Config} config
   * @param {{ panel: HTMLElement, button: HTMLElement | null, hint: HTMLElement | null, drafts: Drafts }} page */
  constructor(store, config, { panel, button, hint, drafts }) {
    this.store = store;
    this.config = config;
    this.panel = panel;
    this.button = button;
    this.hint = hint;
    this.drafts = drafts;
    this.due = 0;
    this.settled = 0;
    this.checking = false;
    /** Lineups of which a decision is under way: one that is sent twice would be written down twice. @type {Set<number>} */
    this.sending = new Set();
    /** Entries of the list as the server made them. @type {WeakMap<HTMLElement, Own>} */
    this.own = new WeakMap();
    store.on("line data", () => this.judge());
    panel.addEventListener("click", (event) => {
      const opener = closest(event.target, "[data-open]");
      if (opener) store.set({ pick: Number(opener.dataset.open) }, { leave: true });
    });
    panel.addEventListener("input", ({ target }) => {
      if (!(target instanceof HTMLTextAreaElement) || target.name !== "reason") return;
      drafts.keep("remark", target.form?.dataset.lineup ?? "", target.value);
    });
    panel.addEventListener("submit", (event) => {
      const { target, submitter } = event;
      if (!(target instanceof HTMLFormElement)) return;
      event.preventDefault();
      const action = submitter instanceof HTMLButtonElement ? submitter.value : "remark";
      this.decide(Number(target.dataset.lineup), action, target);
    });
    button?.addEventListener("click", () => this.recheck(button));
  }

  /** Show an answer of the server: the panel, the marks in table and drawer, and what the button can do next.
   * @param {Answer} state */
  take(state) {
    if (state.error === undefined) this.store.decided(state);
    const typing = [...this.panel.querySelectorAll("textarea")].some((box) => box.value.trim());
    if (state.html !== undefined && !typing && !this.panel.contains(document.activeElement?.closest("form") ?? null)) {
      const open = new Set([...this.panel.querySelectorAll("details[open]")].map((d) => d.id));
      this.panel.innerHTML = state.html; // rendered and escaped by the site's own template
      for (const details of this.panel.querySelectorAll("details")) details.open = open.has(details.id);
      for (const form of this.panel.querySelectorAll("form")) this.fillDraft(form);
      this.judge();
    }
    if (this.button) this.sayButton(this.button, state);
  }

  /** The server judges by the job's line. Where the line is moved, marks and words of the list follow it, and say so. */
  judge() {
    const { lineups, lined } = this.store;
    const note = findOptional(this.panel, "[data-list-line]");
    if (note) {
      note.hidden = !lineups.moved;
      note.textContent = `Judged by the moved line. A re-check is judged by the job’s own, ${lineText(lineups.ownLines[lined] ?? 0, lineups.objectives[lined])}.`;
    }
    const settled = findOptional(this.panel, "[data-list-settled]");
    if (settled) settled.textContent = this.settledWords("here");
    if (this.button?.title) this.button.title = this.buttonTitle;
    for (const item of findAll(this.panel, "[data-listed-lineup]")) this.judgeOne(item, lineups.row(Number(item.dataset.listedLineup)));
  }

  /** What is settled is so by the line that the fresh battles were played for.
   * @param {string} what */
  settledWords(what) {
    const open = findOptional(this.panel, "[data-left-open]") ? " or is too close to tell" : "";
    return `${this.store.lineups.moved ? "By the job’s own line, every" : "Every"} lineup ${what} has a verdict${open}.`;
  }

  /** Whether the verdicts of some rest on the battles at the end of the search, which no re-check counts. */
  get afresh() {
    return findOptional(this.panel, "[data-afresh]") !== null;
  }

  get buttonTitle() {
    const more = this.afresh ? "Their first re-check starts afresh." : "More battles would make the ranges narrower.";
    return `${this.settledWords("of the shortlist")} ${more}`;
  }

  /** @param {HTMLElement} item @param {number} row */
  judgeOne(item, row) {
    const { lineups, listed } = this.store;
    const [shape, words] = [find(item, ".shortlist-mark"), find(item, "[data-listed-words]")];
    const own = this.own.get(item) ?? { shape: [...shape.childNodes], words: words.textContent, css: words.className };
    this.own.set(item, own);
    shape.replaceChildren(...own.shape);
    Object.assign(words, { textContent: own.words, className: own.css });
    if (!lineups.moved || row < 0) return;
    const id = lineups.id[row];
    const verdict = VERDICTS[lineups.verdict[row]];
    shape.replaceChildren(mark(verdict));
    if (listed.get(id)?.state === "checking") return;
    const fresh = lineups.fresh.get(id);
    const battles = fresh ? plural(fresh.now.battles, "fresh battle") : "the search’s battles";
    Object.assign(words, { textContent: `${lineups.words[verdict]} by the moved line, on ${battles}`, className: WORDS_CSS[verdict] });
  }

  /** Put back a remark that was typed and not sent; where there is one, its form is open.
   * @param {HTMLFormElement} form */
  fillDraft(form) {
    const text = this.drafts.read("remark", form.dataset.lineup ?? "");
    if (!text) return;
    field(form, "reason", HTMLTextAreaElement).value = text;
    const fold = form.closest("details");
    if (fold) fold.open = true;
  }

  /** The button does the next thing: check what is open, or, once all is settled, play that again. It is the page's
   * first choice until every verdict comes from re-checks.
   * @param {HTMLElement} button @param {Answer} state */
  sayButton(button, { due = [], settled = [], checking = false, replay = "" }) {
    const [open, done] = [due.length, settled.length];
    const words = !open && checking ? "Playing the shortlist on fresh battles" : replay || "Re-check the shortlist";
    const idle = !open && (checking || !done);
    find(button, "span").textContent = words;
    button.title = !open && !checking && done ? this.buttonTitle : "";
    setDisabled(button, idle);
    button.classList.toggle("btn-primary", !idle && (open > 0 || this.afresh));
    if (this.hint) this.hint.textContent = idle ? (checking ? "The verdicts come by themselves" : "Shortlist a lineup first") : "";
    this.due = open;
    this.settled = done;
    this.checking = checking;
  }

  /** @param {string} url @param {Record<string, string | number | null>} fields @returns {Promise<Answer>} */
  async post(url, fields) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, String(value));
    const token = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"];
    const answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token }, keepalive: true }).catch(() => null);
    if (!answer) return { error: "The site did not answer. What you typed is still here; try again in a moment." };
    if (answer.headers.get("Content-Type")?.includes("json")) return answer.json();
    return { error: answer.status === 403 ? "Your role in this project does not allow that." : "That did not work. Load the page again and try once more." };
  }

  /** @param {number} lineup @param {string} action @param {HTMLFormElement} form */
  async decide(lineup, action, form) {
    if (this.sending.has(lineup)) return;
    const problem = find(form, "[data-problem]");
    const button = find(form, "button[type=submit], button:not([type])");
    const reason = field(form, "reason", HTMLTextAreaElement);
    const sent = reason.value;
    this.sending.add(lineup);
    button.setAttribute("aria-busy", "true");
    const state = await this.post(this.config.shortlist, { lineup, action, reason: sent });
    button.removeAttribute("aria-busy");
    this.sending.delete(lineup);
    problem.hidden = !state.error;
    if (state.error) {
      find(problem, "span").textContent = state.error;
      reason.focus();
      return;
    }
    // What was typed meanwhile, here or about another lineup, stays.
    if (form.dataset.lineup === String(lineup) && reason.value === sent) form.reset();
    const what = action === "add" ? "reason" : "remark";
    if (this.drafts.read(what, lineup) === sent) this.drafts.forget(what, lineup);
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    this.take(state);
    toast(DONE[action]);
  }

  /** @param {HTMLElement} button */
  async recheck(button) {
    const again = !this.due && !this.checking && this.settled > 0;
    if (!this.due && !again) {
      toast(this.checking ? "These battles are being played now; the verdicts come by themselves." : "Open a lineup, say why it matters, and add it to the shortlist. Then it can be played again.", { hint: true });
      return;
    }
    button.setAttribute("aria-busy", "true");
    const state = await this.post(this.config.recheck, again ? { again: "1" } : {});
    button.removeAttribute("aria-busy");
    if (state.error) {
      toast(state.error, { problem: true });
      return;
    }
    this.take(state);
    toast(state.said ?? "");
  }
}
