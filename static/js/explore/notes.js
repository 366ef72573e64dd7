// Where the words of a line stand in a chart: beside it, where they hide the fewest marks.
import { PAD } from "./cloud.js";
/** @import { Frame } from "./cloud.js" */
/** @import { Store } from "./store.js" */

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */

const LISTED = 4; // what a listed mark counts, in others
const GAP = 4; // px between words and their line

/** @param {Box} a @param {Box} b */
const overlap = (a, b) => a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

/** Places for the words of a line at `at` px: on both its sides, at its ends and in its middle, within the plot.
 * @param {Frame} frame @param {HTMLElement} note @param {string} along @param {number} at */
export function spots({ margin: { l, t }, x, y }, { offsetWidth: width, offsetHeight: height }, along, at) {
  /** @param {number} from @param {number} room @param {number} size */
  const three = (from, room, size) => [from + GAP, from + (room - size) / 2, from + room - GAP - size];
  const beside = (/** @type {number} */ size) => [at - GAP - size, at + GAP];
  const across = along === "x" ? beside(width).reverse() : three(l, x.pixels, width);
  const down = along === "x" ? three(t, y.pixels, height) : beside(height);
  const all = down.flatMap((top) => across.map((left) => ({ left, top, width, height })));
  const inside = all.filter(({ left, top }) => left >= l && left + width <= l + x.pixels && top >= t && top + height <= t + y.pixels);
  return inside.length ? inside : all;
}

/** Of these places the one that hides the fewest marks, and none of the places that are `taken`; of equal ones the first.
 * @param {Frame} frame @param {Pick<Store, "lineups" | "match">} rows @param {Box[]} places @param {Box[]} taken */
export function freest({ margin, x, y, xs, ys, ratio }, { lineups, match }, places, taken) {
  const hidden = places.map((box) => (taken.some((other) => overlap(box, other)) ? Infinity : 0));
  const [left, top] = [margin.l - PAD, margin.t - PAD];
  for (let i = 0; i < lineups.count; i += 1) {
    const [px, py] = [left + x.place(xs[i]) / ratio, top + y.place(ys[i]) / ratio];
    places.forEach((box, k) => {
      if (px > box.left && px < box.left + box.width && py > box.top && py < box.top + box.height) hidden[k] += match[i] ? LISTED : 1;
    });
  }
  return places[hidden.indexOf(Math.min(...hidden))];
}
