// Three axes seen from a place around them: where values land on the screen, which faces lie behind, which ticks to draw.
/** @import { Ends } from "../charts/format.js" */

/** A place in the box, each coordinate in [0, 1]; or one on the screen, with how far away it is.
 * @typedef {[number, number, number]} Place */

const PERSPECTIVE = 0.22;

/** A box of three axes, each with a range [low, high], seen from `angle` around it and `tilt` above it (radians). */
export class Projection {
  /** @param {Ends[]} ranges
   * @param {{ angle: number, tilt: number, width: number, height: number, margin: { x: number, y: number, down?: number } }} view */
  constructor(ranges, { angle, tilt, width, height, margin }) {
    this.ranges = ranges;
    this.width = width;
    this.height = height;
    this.cosA = Math.cos(angle);
    this.sinA = Math.sin(angle);
    this.cosT = Math.cos(tilt);
    this.sinT = Math.sin(tilt);
    this.scale = Math.min((width - 2 * margin.x) / 1.5, (height - 2 * margin.y) / (this.cosT + 1.45 * this.sinT));
    this.middle = [width / 2, height / 2 + (margin.down ?? 0)];
  }

  /** [x, y, how far away] of a place in the box, each coordinate in [0, 1].
   * @param {number} u @param {number} v @param {number} w @returns {Place} */
  at(u, v, w) {
    const [a, b, c] = [u - 0.5, v - 0.5, w - 0.5];
    const across = a * this.cosA - b * this.sinA;
    const away = a * this.sinA + b * this.cosA;
    const depth = away * this.cosT - c * this.sinT;
    const k = this.scale / (1 + PERSPECTIVE * depth);
    return [this.middle[0] + across * k, this.middle[1] - (c * this.cosT + away * this.sinT) * k, depth];
  }

  /** The share of its axis that a value stands at.
   * @param {number} k @param {number} value */
  share(k, value) {
    const [low, high] = this.ranges[k];
    return (value - low) / (high - low || 1);
  }

  /** Where the values of one lineup land.
   * @param {number[]} values */
  place(values) {
    return this.at(this.share(0, values[0]), this.share(1, values[1]), this.share(2, values[2]));
  }

  /** For the first and the second axis the end (0 or 1) whose face lies behind. */
  behind() {
    return [0, 1].map((k) => {
      const [near, far] = [0, 1].map((end) => (k ? this.at(0.5, end, 0.5) : this.at(end, 0.5, 0.5))[2]);
      return far > near ? 1 : 0;
    });
  }
}

/** About `count` round numbers within [low, high].
 * @param {Ends} range @param {number} count */
export function ticks([low, high], count) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((m) => m * power >= rough) ?? 10);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)));
  return { values: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
