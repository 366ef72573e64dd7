// Words typed about a lineup and not sent yet: kept on this device until they are, whatever is closed meanwhile.
const memory = new Map(); // where the browser keeps nothing, at least while the page is open

export class Drafts {
  constructor({ person, job }) {
    this.start = `equipoise-draft:${person}:${job}:`;
  }

  /** `what` is "reason" or "remark". */
  read(what, lineup) {
    const key = this.key(what, lineup);
    try {
      return localStorage.getItem(key) ?? "";
    } catch {
      return memory.get(key) ?? "";
    }
  }

  keep(what, lineup, text) {
    const key = this.key(what, lineup);
    try {
      if (text.trim()) localStorage.setItem(key, text);
      else localStorage.removeItem(key);
    } catch {
      memory.set(key, text.trim() ? text : "");
    }
  }

  forget(what, lineup) {
    this.keep(what, lineup, "");
  }

  key(what, lineup) {
    return `${this.start}${lineup}:${what}`;
  }
}
