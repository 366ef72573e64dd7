// Decisions: written down on the server, one after the other, never changed. What comes back is the list as it is now.
import { lineText, plural } from "../charts/format.js";
import { mark } from "../marks.js";
import { toast } from "../toast.js";
import { setDisabled } from "./dom.js";
import { VERDICTS } from "./lineups.js";

const WORDS_CSS = { under: "", unsure: "text-unsure", strong: "text-over" };

export class Shortlist {
  constructor(store, config, { panel, button, hint, drafts }) {
    Object.assign(this, { store, config, panel, button, hint, drafts });
    store.on("line data", () => this.judge());
    panel.addEventListener("click", (event) => {
      const opener = event.target.closest("[data-open]");
      if (opener) store.set({ pick: Number(opener.dataset.open) }, { leave: true });
    });
    panel.addEventListener("input", ({ target }) => {
      if (target.name === "reason") drafts.keep("remark", target.form.dataset.lineup, target.value);
    });
    panel.addEventListener("submit", (event) => {
      event.preventDefault();
      this.decide(Number(event.target.dataset.lineup), event.submitter?.value ?? "remark", event.target);
    });
    button?.addEventListener("click", () => this.recheck());
  }

  /** Show an answer of the server: the panel, the marks in table and drawer, and what the button can do next. */
  take(state) {
    if (state.error === undefined) this.store.decided(state);
    const typing = [...this.panel.querySelectorAll("textarea")].some((box) => box.value.trim());
    if (state.html !== undefined && !typing && !this.panel.contains(document.activeElement?.closest("form"))) {
      const open = new Set([...this.panel.querySelectorAll("details[open]")].map((d) => d.id));
      this.panel.innerHTML = state.html; // rendered and escaped by the site's own template
      for (const details of this.panel.querySelectorAll("details")) details.open = open.has(details.id);
      for (const form of this.panel.querySelectorAll("form")) this.fillDraft(form);
      this.judge();
    }
    if (this.button) this.sayButton(state);
  }

  /** The server judges by the job's line. Where the line is moved, marks and words of the list follow it, and say so. */
  judge() {
    const { lineups, lined } = this.store;
    const note = this.panel.querySelector("[data-list-line]");
    if (note) {
      note.hidden = !lineups.moved;
      note.textContent = `Judged by the moved line. A re-check is judged by the job’s own, ${lineText(lineups.ownLines[lined] ?? 0, lineups.objectives[lined])}.`;
    }
    for (const item of this.panel.querySelectorAll("[data-listed-lineup]")) this.judgeOne(item, lineups.row(Number(item.dataset.listedLineup)));
  }

  judgeOne(item, row) {
    const { lineups, listed } = this.store;
    const [shape, words] = [item.querySelector(".shortlist-mark"), item.querySelector("[data-listed-words]")];
    item.own ??= { shape: [...shape.childNodes], words: words.textContent, css: words.className };
    shape.replaceChildren(...item.own.shape);
    Object.assign(words, { textContent: item.own.words, className: item.own.css });
    if (!lineups.moved || row < 0) return;
    const id = lineups.id[row];
    const verdict = VERDICTS[lineups.verdict[row]];
    shape.replaceChildren(mark(verdict));
    if (listed.get(id)?.state === "checking") return;
    const battles = lineups.fresh.has(id) ? plural(lineups.fresh.get(id).now.battles, "fresh battle") : "the search’s battles";
    Object.assign(words, { textContent: `${lineups.words[verdict]} by the moved line, on ${battles}`, className: WORDS_CSS[verdict] });
  }

  /** Put back a remark that was typed and not sent; where there is one, its form is open. */
  fillDraft(form) {
    const text = this.drafts.read("remark", form.dataset.lineup);
    if (!text) return;
    form.elements.reason.value = text;
    form.closest("details").open = true;
  }

  /** The button does the next thing: check what is open, or, once all is settled, make ranges narrower. */
  sayButton({ due = [], settled = [], checking = false, replay = "" }) {
    const [open, done] = [due.length, settled.length];
    const words = !open && checking ? "Playing the shortlist on fresh battles" : replay || "Re-check the shortlist";
    const idle = !open && (checking || !done);
    this.button.querySelector("span").textContent = words;
    this.button.title = !open && !checking && done ? "Fresh battles have settled all of the shortlist. More of them make the ranges narrower." : "";
    setDisabled(this.button, idle);
    this.button.classList.toggle("btn-primary", !idle);
    this.hint.textContent = idle ? (checking ? "The verdicts come by themselves" : "Shortlist a lineup first") : "";
    Object.assign(this, { due: open, settled: done, checking });
  }

  async post(url, fields) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
    const answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token }, keepalive: true }).catch(() => null);
    if (!answer) return { error: "The site did not answer. What you typed is still here; try again in a moment." };
    if (answer.headers.get("Content-Type")?.includes("json")) return answer.json();
    return { error: answer.status === 403 ? "Your role in this project does not allow that." : "That did not work. Load the page again and try once more." };
  }

  async decide(lineup, action, form) {
    const problem = form.querySelector("[data-problem]");
    const button = form.querySelector("button[type=submit], button:not([type])");
    button.setAttribute("aria-busy", "true");
    const state = await this.post(this.config.shortlist, { lineup, action, reason: form.elements.reason.value });
    button.removeAttribute("aria-busy");
    problem.hidden = !state.error;
    if (state.error) {
      problem.querySelector("span").textContent = state.error;
      form.elements.reason.focus();
      return;
    }
    form.reset();
    this.drafts.forget(action === "add" ? "reason" : "remark", lineup);
    document.activeElement?.blur();
    this.take(state);
    toast({ add: "On the shortlist.", withdraw: "Taken off the shortlist. What was said about it stays.", remark: "Remark added." }[action]);
  }

  async recheck() {
    const again = !this.due && !this.checking && this.settled > 0;
    if (!this.due && !again) {
      toast(this.checking ? "These battles are being played now; the verdicts come by themselves." : "Open a lineup, say why it matters, and add it to the shortlist. Then it can be played again.", { hint: true });
      return;
    }
    this.button.setAttribute("aria-busy", "true");
    const state = await this.post(this.config.recheck, again ? { again: "1" } : {});
    this.button.removeAttribute("aria-busy");
    if (state.error) return toast(state.error, { problem: true });
    this.take(state);
    toast(state.said);
  }
}
