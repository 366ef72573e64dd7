// Which lineup is under the pointer: rows in square cells, so that a look-up reads a few dozen of them.
import { UNDER } from "./lineups.js";
/** @import { Frame } from "./cloud.js" */
/** @import { Store } from "./store.js" */

const CELL = 16; // device pixels
const MARK_REACH = 12; // css pixels
const DOT_REACH = 5;

export class Nearest {
  /** @param {Frame} frame @param {Store} store */
  constructor(frame, store) {
    this.frame = frame;
    this.store = store;
    const { x, y, xs, ys, width, height } = frame;
    this.columns = Math.ceil(width / CELL);
    this.rows = Math.ceil(height / CELL);
    this.head = new Int32Array(this.columns * this.rows).fill(-1);
    this.next = new Int32Array(store.lineups.count);
    for (let i = 0; i < this.next.length; i += 1) {
      const cell = this.cell(Math.floor(x.place(xs[i]) / CELL), Math.floor(y.place(ys[i]) / CELL));
      if (cell < 0) continue;
      this.next[i] = this.head[cell];
      this.head[cell] = i;
    }
  }

  /** @param {number} column @param {number} row @returns {number} */
  cell(column, row) {
    return column < 0 || row < 0 || column >= this.columns || row >= this.rows ? -1 : row * this.columns + column;
  }

  /** The row nearest to a place (device pixels), or -1. Marks are easier to hit than dots.
   * @param {number} px @param {number} py */
  at(px, py) {
    const { ratio, x, y, xs, ys } = this.frame;
    const { lineups, match } = this.store;
    const reach = Math.ceil((MARK_REACH * ratio) / CELL);
    const [column, row] = [Math.floor(px / CELL), Math.floor(py / CELL)];
    let [best, score] = [-1, Infinity];
    for (let r = row - reach; r <= row + reach; r += 1) {
      for (let k = column - reach; k <= column + reach; k += 1) {
        const cell = this.cell(k, r);
        for (let i = cell < 0 ? -1 : this.head[cell]; i >= 0; i = this.next[i]) {
          const mark = match[i] && lineups.kind[i] !== UNDER;
          const distance = Math.hypot(x.place(xs[i]) - px, y.place(ys[i]) - py) / ratio;
          if (distance > (mark ? MARK_REACH : DOT_REACH)) continue;
          const worth = distance - (mark ? MARK_REACH : 0);
          if (worth < score) [best, score] = [i, worth];
        }
      }
    }
    return best;
  }
}
