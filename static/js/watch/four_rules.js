// The rules of Connect Four, as engine/games/connect_four.py has them; a test plays both side by side. Side 0 begins.

export const COLUMNS = 7;
export const ROWS = 6;
const CELLS = COLUMNS * ROWS;
const NEXT = [[0, 1], [1, 0], [1, 1], [1, -1]]; // up, sideways, and along both diagonals

export class Board {
  constructor() {
    /** Whose disc lies where, column by column from the bottom; -1: nobody's.
     * @type {number[]} */
    this.cells = new Array(CELLS).fill(-1);
    this.mover = 0;
    this.winner = -1;
  }

  /** How many discs lie in a column.
   * @param {number} column */
  height(column) {
    const free = this.cells.slice(column * ROWS, (column + 1) * ROWS).indexOf(-1);
    return free < 0 ? ROWS : free;
  }

  /** Which columns are not full. */
  free() {
    return Array.from({ length: COLUMNS }, (_, column) => this.height(column) < ROWS);
  }

  over() {
    return this.winner >= 0 || !this.free().includes(true);
  }

  /** Whoever moves drops a disc into a column that is not full; the cell in which it lies.
   * @param {number} column */
  drop(column) {
    const cell = column * ROWS + this.height(column);
    this.cells[cell] = this.mover;
    if (this.line(column, cell % ROWS)) this.winner = this.mover;
    this.mover = 1 - this.mover;
    return cell;
  }

  /** Whether the disc here lies in a line of four.
   * @param {number} column @param {number} row */
  line(column, row) {
    const side = this.cells[column * ROWS + row];
    /** @type {(across: number, up: number) => number} */
    const reach = (across, up) => {
      let [c, r, length] = [column + across, row + up, 0];
      while (c >= 0 && c < COLUMNS && r >= 0 && r < ROWS && this.cells[c * ROWS + r] === side) {
        [c, r, length] = [c + across, r + up, length + 1];
      }
      return length;
    };
    return NEXT.some(([across, up]) => 1 + reach(across, up) + reach(-across, -up) >= 4);
  }

  /** What a side sees: its own discs, then the other's.
   * @param {number} side */
  seen(side) {
    return [side, 1 - side].flatMap((whose) => this.cells.map((cell) => Number(cell === whose)));
  }
}
