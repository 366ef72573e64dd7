// The line of each question, as this page last had it: who comes back to a question finds the line there, and whose it is.
const KEPT = `equipoise-lines:${location.pathname}`;

/** @typedef {{ measure: string, line: string, from: string }} Line */

export class Lines {
  constructor() {
    /** @type {Record<string, Line>} */
    this.all = {};
    try {
      this.all = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    } catch {
      // where the browser keeps nothing, they last as long as the page
    }
  }

  /** Keep {measure, line, from} of a question; also by its measure, to which somebody may come back.
   * @param {string} question @param {Line} kept */
  keep(question, kept) {
    this.all[question] = kept;
    this.all[`${question}/${kept.measure}`] = kept;
    this.write();
  }

  /** What was kept of a question, or of one of its measures; or nothing.
   * @param {string} question @param {string} [measure] @returns {Line | undefined} */
  of(question, measure) {
    return this.all[measure === undefined ? question : `${question}/${measure}`];
  }

  forget() {
    this.all = {};
    this.write();
  }

  write() {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(this.all));
    } catch {
      // as above
    }
  }
}
