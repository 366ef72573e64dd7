// How late and how seldom an agent does something else, as engine/mdp/limits.py has it.

export class Hands {
  /** @param {{ delay: number, apart: number }} limits decisions until what it decides is done, and between two changes of
   * what it does @param {number[]} idle what it does until its first decision is done */
  constructor({ delay, apart }, idle) {
    this.apart = apart;
    this.waiting = Array.from({ length: delay }, () => idle);
    this.now = idle;
    this.since = apart;
  }

  /** What it does now, where this is what it decided now.
   * @param {number[]} wanted @returns {number[]} */
  do(wanted) {
    this.waiting.push(wanted);
    const due = /** @type {number[]} */ (this.waiting.shift());
    const other = this.since >= this.apart && due.some((choice, i) => choice !== this.now[i]);
    if (other) this.now = due;
    this.since = other ? 1 : this.since + 1;
    return this.now;
  }
}
