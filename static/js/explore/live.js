// Keeps the page as the job is now: asks for the state when something happened, for lineups when there are new ones.
import { listen } from "../events.js";
import { loadCore, loadDetails } from "./lineups.js";

const PAUSE_MS = 1500;
const PATIENCE = 4; // lineups that took t to load are not loaded again within 4 t, or ten seconds
const MOST_PATIENCE_MS = 10_000;

export class Live {
  constructor(store, config, { shortlist, judged, stale }) {
    Object.assign(this, { store, config, shortlist, judged, stale, key: config.data.key, due: 0, earliest: 0 });
    listen(config.events, () => this.soon());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.soon());
  }

  soon() {
    if (this.due) return;
    const wait = Math.max(PAUSE_MS, this.earliest - performance.now());
    this.due = setTimeout(() => {
      this.due = 0;
      this.refresh();
    }, wait);
  }

  async refresh() {
    try {
      const answer = await fetch(this.config.state, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const state = await answer.json();
      if (state.data.key !== this.key && state.error === undefined) await this.reload(state.data);
      this.shortlist.take(state);
      this.say(state);
      this.stale.hidden = true;
    } catch {
      this.stale.hidden = false;
    }
  }

  async reload(data) {
    const began = performance.now();
    const [lineups, details] = await Promise.all([loadCore(data), loadDetails(data)]);
    lineups.detail(details);
    this.key = data.key;
    this.store.replace(lineups);
    const took = performance.now() - began;
    this.earliest = performance.now() + Math.min(MOST_PATIENCE_MS, PATIENCE * took);
  }

  say(state) {
    this.judged.take(state);
    const note = document.querySelector("[data-live]");
    note.hidden = !state.running;
    note.querySelector("[data-tick]").textContent = state.tick;
    const typing = [...document.querySelectorAll("textarea")].some((box) => box.value.trim());
    // Head, facts and empty states are the server's words; but nothing that somebody types is lost for them.
    if (this.wasRunning && !state.running && !typing) location.reload();
    this.wasRunning = state.running;
  }
}
