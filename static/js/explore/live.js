// Keeps the page as the job is now: asks for the state when something happened, for lineups when there are new ones.
import { listen } from "../events.js";
import { find } from "../elements.js";
import { loadCore, loadDetails } from "./lineups.js";

/** @import { Files } from "./lineups.js" */
/** @import { Judged } from "./judged.js" */
/** @import { Config } from "./main.js" */
/** @import { Answer, Shortlist } from "./shortlist.js" */
/** @import { Store } from "./store.js" */

/** How the job stands. @typedef {Answer & { running: boolean, tick: number, data: Files, counted?: string, judged?: string }} Standing */

const PAUSE_MS = 1500;
const PATIENCE = 4; // lineups that took t to load are not loaded again within 4 t, or ten seconds
const MOST_PATIENCE_MS = 10_000;

export class Live {
  /** @param {Store} store @param {Config} config @param {{ shortlist: Shortlist, judged: Judged, stale: HTMLElement }} parts */
  constructor(store, config, { shortlist, judged, stale }) {
    this.store = store;
    this.config = config;
    this.shortlist = shortlist;
    this.judged = judged;
    this.stale = stale;
    this.key = config.data.key;
    this.wasRunning = config.running;
    this.due = 0;
    this.earliest = 0;
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
      /** @type {Standing} */
      const state = await answer.json();
      if (state.data.key !== this.key && state.error === undefined) await this.reload(state.data);
      this.shortlist.take(state);
      this.say(state);
      this.stale.hidden = true;
    } catch {
      this.stale.hidden = false;
    }
  }

  /** @param {Files} data */
  async reload(data) {
    const began = performance.now();
    const [lineups, details] = await Promise.all([loadCore(data), loadDetails(data)]);
    lineups.detail(details);
    this.key = data.key;
    this.store.replace(lineups);
    const took = performance.now() - began;
    this.earliest = performance.now() + Math.min(MOST_PATIENCE_MS, PATIENCE * took);
  }

  /** @param {Standing} state */
  say(state) {
    this.judged.take(state);
    const note = find(document, "[data-live]");
    note.hidden = !state.running;
    find(note, "[data-tick]").textContent = String(state.tick);
    const typing = [...document.querySelectorAll("textarea")].some((box) => box.value.trim());
    // Head, facts and empty states are the server's words; but nothing that somebody types is lost for them.
    if (this.wasRunning && !state.running && !typing) location.reload();
    this.wasRunning = state.running;
  }
}
