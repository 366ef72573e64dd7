// The line of each question, as this page last had it: who comes back to a question finds the line there, and whose it is.
const KEPT = `equipoise-lines:${location.pathname}`;

export class Lines {
  constructor() {
    this.all = {};
    try {
      this.all = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    } catch {
      // where the browser keeps nothing, they last as long as the page
    }
  }

  /** Keep {measure, line, from} of a question; also by its measure, to which somebody may come back. */
  keep(question, kept) {
    this.all[question] = kept;
    this.all[`${question}/${kept.measure}`] = kept;
    this.write();
  }

  /** What was kept of a question, or of one of its measures; or nothing. */
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
