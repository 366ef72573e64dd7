// Rows that show a whole decision: the moments of its way, one after the other, each of the same numbers.

/** The way of the next decision so far; what is still to come is where it is now.
 * @param {number} each @returns {(row: number[], next: number[], before: number[], share: number) => number[]} */
export const along = (each) => (row, next, _before, share) => {
  const moments = next.length / each;
  const past = share * moments;
  const whole = Math.min(Math.floor(past), moments - 1);
  const from = whole ? next.slice((whole - 1) * each, whole * each) : row.slice(-each);
  const now = from.map((value, i) => value + (next[whole * each + i] - value) * (past - whole));
  return next.map((value, i) => (i < whole * each ? value : now[i % each]));
};

/** The moments of a row.
 * @param {number[]} row @param {number} each */
export const moments = (row, each) =>
  Array.from({ length: row.length / each }, (_, k) => row.slice(k * each, (k + 1) * each));
