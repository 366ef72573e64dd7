// Decisions: written down on the server, one after the other, never changed. What comes back is the list as it is now.
import { toast } from "../toast.js";

export class Shortlist {
  constructor(store, config, { panel, button }) {
    Object.assign(this, { store, config, panel, button });
    panel.addEventListener("click", (event) => {
      const opener = event.target.closest("[data-open]");
      if (opener) store.set({ pick: Number(opener.dataset.open) }, { leave: true });
    });
    panel.addEventListener("submit", (event) => {
      event.preventDefault();
      this.decide(Number(event.target.dataset.lineup), event.submitter?.value ?? "remark", event.target);
    });
    button?.addEventListener("click", () => this.recheck());
  }

  /** Show an answer of the server: the panel, the marks in table and drawer, and what the button can do next. */
  take(state) {
    const typing = [...this.panel.querySelectorAll("textarea")].some((box) => box.value.trim());
    if (state.html !== undefined && !typing && !this.panel.contains(document.activeElement?.closest("form"))) {
      const open = new Set([...this.panel.querySelectorAll("details[open]")].map((d) => d.id));
      this.panel.innerHTML = state.html; // rendered and escaped by the site's own template
      for (const details of this.panel.querySelectorAll("details")) details.open = open.has(details.id);
    }
    if (state.error === undefined) this.store.decided(state);
    if (this.button) this.sayButton(state);
  }

  /** The button does the next thing: check what is open, or, once all is settled, make ranges narrower. */
  sayButton({ due = [], settled = [], checking = false }) {
    const [open, done] = [due.length, settled.length];
    const words = open ? `Re-check ${open} shortlisted on fresh battles`
      : checking ? "Playing the shortlist on fresh battles"
        : done ? `Re-check ${done} again with more battles` : "Re-check the shortlist";
    this.button.querySelector("span").textContent = words;
    this.button.title = !open && !checking && done ? "All of the shortlist was re-checked. More battles make the ranges narrower." : "";
    this.button.toggleAttribute("aria-disabled", !open && (checking || !done));
    Object.assign(this, { due: open, settled: done, checking });
  }

  async post(url, fields) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
    const answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token } }).catch(() => null);
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
    document.activeElement?.blur();
    this.take(state);
    toast({ add: "On the shortlist.", withdraw: "Taken off the shortlist. What was said about it stays.", remark: "Remark added." }[action]);
  }

  async recheck() {
    const again = !this.due && !this.checking && this.settled > 0;
    if (!this.due && !again) {
      toast(this.checking ? "These battles are being played now; the verdict comes by itself." : "Put a lineup on the shortlist first: open one, say why, add it.");
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
