// What the page's head says of verdicts. The server's words speak of the job's line; where the line is moved, these do.
import { whole } from "../charts/format.js";
import { find } from "../elements.js";
import { STRONG } from "./lineups.js";
/** @import { Store } from "./store.js" */

export class Judged {
  /** @param {Store} store @param {HTMLElement} facts @param {HTMLElement} filters */
  constructor(store, facts, filters) {
    this.store = store;
    this.counted = find(facts, "[data-counted]");
    this.place = find(facts, "[data-judged]");
    this.families = find(filters, "[data-families-by]");
    this.own = this.place.textContent;
    store.on("line data", () => this.draw());
    this.draw();
  }

  /** The server's answer, which may know more by now.
   * @param {{ counted?: string, judged?: string }} answer */
  take({ counted, judged = "" }) {
    if (counted === undefined) return;
    this.counted.textContent = counted;
    this.own = judged;
    this.draw();
  }

  draw() {
    const { moved, meta } = this.store.lineups;
    this.place.textContent = moved ? this.byMovedLine() : this.own;
    const by = meta.explained ? "by suspects" : "by shared pieces";
    this.families.textContent = moved && !meta.explained ? `${by}, as the job’s own line has them` : by;
  }

  byMovedLine() {
    const { lineups } = this.store;
    let [strong, again] = [0, 0];
    for (let i = 0; i < lineups.count; i += 1) strong += Number(lineups.verdict[i] === STRONG);
    for (const id of lineups.fresh.keys()) {
      const row = lineups.row(id);
      again += Number(row >= 0 && lineups.verdict[row] === STRONG);
    }
    const split = lineups.fresh.size ? `: ${whole(again)} on fresh battles, ${whole(strong - again)} found by the search` : "";
    return `; by the moved line ${whole(strong)} ${lineups.words.strong.toLowerCase()}${split}`;
  }
}
