// Words typed about a lineup and not sent yet: kept on this device until they are, whatever is closed meanwhile.
/** @type {Map<string, string>} */
const memory = new Map(); // where the browser keeps nothing, at least while the page is open

export class Drafts {
  /** @param {{ person: number, job: number }} config */
  constructor({ person, job }) {
    this.start = `equipoise-draft:${person}:${job}:`;
  }

  /** `what` is "reason" or "remark".
   * @param {string} what @param {string | number} lineup */
  read(what, lineup) {
    const key = this.key(what, lineup);
    try {
      return localStorage.getItem(key) ?? "";
    } catch {
      return memory.get(key) ?? "";
    }
  }

  /** @param {string} what @param {string | number} lineup @param {string} text */
  keep(what, lineup, text) {
    const key = this.key(what, lineup);
    try {
      if (text.trim()) localStorage.setItem(key, text);
      else localStorage.removeItem(key);
    } catch {
      memory.set(key, text.trim() ? text : "");
    }
  }

  /** @param {string} what @param {string | number} lineup */
  forget(what, lineup) {
    this.keep(what, lineup, "");
  }

  /** @param {string} what @param {string | number} lineup */
  key(what, lineup) {
    return `${this.start}${lineup}:${what}`;
  }
}
