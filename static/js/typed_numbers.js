// What is typed into the game data, lineup rules or objectives and not saved: kept on this device until they are, whatever is opened meanwhile.
/** @typedef {{table: string, version: number, texts: Record<string, string>, sent?: number}} TypedRow */

export class TypedNumbers {
  /** @param {DOMStringMap} page */
  constructor({ person, project, kind = "numbers" }) {
    this.key = `equipoise-${kind}:${person}:${project}`;
    /** @type {Record<string, TypedRow>} where the browser keeps nothing, at least while the page is open */
    this.rows = {};
    this.lasts = true;
    try {
      this.rows = JSON.parse(localStorage.getItem(this.key) ?? "{}");
    } catch {
      this.lasts = false;
    }
  }

  /** Keep the texts of a row's fields by their paths; a row without any is forgotten.
   * @param {string} row @param {TypedRow} typed */
  keep(row, typed) {
    if (Object.keys(typed.texts).length) this.rows[row] = typed;
    else delete this.rows[row];
    this.write();
  }

  /** @param {string[]} rows */
  forget(rows) {
    for (const row of rows) delete this.rows[row];
    this.write();
  }

  /** These rows are on their way to be saved on top of ``version``; with 0, none of them is any more.
   * @param {string[]} rows @param {number} version */
  sent(rows, version) {
    for (const row of rows) if (this.rows[row]) this.rows[row].sent = version;
    this.write();
  }

  /** A version newer than the one that they were sent on top of: they are saved.
   * @param {number} version */
  forgetSaved(version) {
    this.forget(Object.keys(this.rows).filter((row) => this.rows[row].sent && this.rows[row].sent < version));
  }

  write() {
    try {
      if (Object.keys(this.rows).length) localStorage.setItem(this.key, JSON.stringify(this.rows));
      else localStorage.removeItem(this.key);
      this.lasts = true;
    } catch {
      this.lasts = false;
    }
  }

  /** Whether leaving the page would lose something. */
  get atRisk() {
    return !this.lasts && Object.keys(this.rows).length > 0;
  }
}

/** Warn whoever leaves while the browser keeps nothing; sending the form is no leaving.
 * @param {TypedNumbers} typed */
export function warnWhereNothingIsKept(typed) {
  let sending = false;
  document.addEventListener("submit", () => (sending = true));
  window.addEventListener("beforeunload", (event) => typed.atRisk && !sending && event.preventDefault());
}
