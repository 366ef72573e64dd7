// Where the eye is in a battle on an empty field: it goes smoothly to whoever is still standing, near enough to see them.
// At every moment all of them are in the picture. Who wants less motion, and whoever asks, sees the whole field instead.

/** What is seen: its middle, and how far it reaches from there, across and down, in paces.
 * @typedef {{ x: number, y: number, across: number, down: number }} View */
/** Whom the eye follows. @typedef {{ x: number, y: number }[]} Spots */

const RIM = 1.6; // paces around those who are seen
const LEAST = 4.5; // paces from the middle, across: nearer, a lone soldier would fill the picture
const SLOW = 14; // ticks that the eye looks ahead and back: it sets off before somebody runs, and comes to rest after
const SHAPE = 3 / 4;

/** @param {Spots} spots @returns {number[]} how far they reach to the left, the right, up and down; every end upwards */
const reach = (spots) => [
  -Math.min(...spots.map(({ x }) => x)),
  Math.max(...spots.map(({ x }) => x)),
  -Math.min(...spots.map(({ y }) => y)),
  Math.max(...spots.map(({ y }) => y)),
];

/** @param {number[]} ends @returns {View} */
function viewOf([left, right, up, down]) {
  const across = Math.max(LEAST, (left + right) / 2 + RIM);
  return { x: (right - left) / 2, y: (down - up) / 2, across, down: Math.max(LEAST * SHAPE, (up + down) / 2 + RIM) };
}

/** Looks at the rows of one battle, which may still grow. */
export class Camera {
  /** @param {(row: number[]) => Spots} spotsOf whom a row shows, at least one @param {number} ticks between two rows */
  constructor(spotsOf, ticks) {
    this.spotsOf = spotsOf;
    this.slow = Math.max(1, Math.round(SLOW / ticks));
    /** @type {number[][]} */
    this.reached = [];
  }

  /** @param {number[][]} rows */
  follow(rows) {
    for (const row of rows.slice(this.reached.length)) this.reached.push(reach(this.spotsOf(row)));
  }

  /** The farthest ends around a row. @param {number} at */
  farthest(at) {
    const around = this.reached.slice(Math.max(0, at - this.slow), at + this.slow + 1);
    return [0, 1, 2, 3].map((end) => Math.max(...around.map((ends) => ends[end])));
  }

  /** The mean of these: each holds the row itself, and so does their mean.
   * @param {number} at a row */
  ends(at) {
    const last = this.reached.length - 1;
    const near = Array.from({ length: 2 * this.slow + 1 }, (_, i) => this.farthest(Math.min(last, Math.max(0, at - this.slow + i))));
    return [0, 1, 2, 3].map((end) => near.reduce((sum, ends) => sum + ends[end], 0) / near.length);
  }

  /** @param {number} at a row, or a moment between two */
  view(at) {
    const whole = Math.min(Math.floor(at), this.reached.length - 1);
    const [now, next] = [this.ends(whole), this.ends(Math.min(whole + 1, this.reached.length - 1))];
    return viewOf(now.map((end, i) => end + (next[i] - end) * (at - whole)));
  }

  /** Everything that is reached in the battle so far, with the middle of the field in the middle. @returns {View} */
  whole() {
    const [left, right, up, down] = [0, 1, 2, 3].map((end) => Math.max(...this.reached.map((ends) => ends[end])));
    return { x: 0, y: 0, across: Math.max(left, right) + RIM, down: Math.max(up, down) + RIM };
  }
}
