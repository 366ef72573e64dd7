// The rules of Pong, as engine/games/pong/kernel.py has them, operation by operation: a test compares whole battles bit
// for bit. Side 0 defends x = -1, side 1 x = 1; a random number is a hash of (seed, serve, event).
import { combine } from "./splitmix.js";

export const STAY = 0;
export const UP = 1;
export const DOWN = 2;
const LINE = 0.92;
const HALF = 0.15;
const BALL = 0.03;
const STEP = 0.04;
const SERVE = 0.04;
const FASTER = 0.003;
const FASTEST = 0.07;
const SLICE = 0.055;
const SERVED_Y = 0.5;
const SERVED_SLOPE = 0.03;

/** A number from -1 to 1.
 * @param {bigint} word */
const uniform = (word) => Number(word >> 11n) * (2 / 9007199254740992) - 1;

export class Battle {
  /** @param {bigint} seed */
  constructor(seed) {
    this.seed = seed;
    this.ball = [0, 0];
    this.speed = [0, 0];
    this.paddles = [0, 0];
    this.moved = [0, 0];
    this.points = [0, 0];
    this.serves = 0;
    this.rally = 0;
    this.serve();
  }

  serve() {
    const word = combine(this.seed, BigInt(this.serves));
    const sign = (word & 1n) === 1n ? -1 : 1;
    this.ball = [0, SERVED_Y * uniform(combine(word, 1n))];
    this.speed = [sign * SERVE, SERVED_SLOPE * uniform(combine(word, 2n))];
    this.serves += 1;
    this.rally = 0;
  }

  /** One moment: both paddles, then the ball.
   * @param {number} left @param {number} right */
  moment(left, right) {
    [left, right].forEach((action, side) => this.move(side, action));
    const loser = this.fly();
    if (loser < 0) return;
    this.points[1 - loser] += 1;
    this.serve();
  }

  /** @param {number} side @param {number} action */
  move(side, action) {
    const way = action === UP ? STEP : action === DOWN ? -STEP : 0;
    const old = this.paddles[side];
    this.paddles[side] = Math.min(Math.max(old + way, HALF - 1), 1 - HALF);
    this.moved[side] = this.paddles[side] - old;
  }

  /** The ball's way; which side lost the point, or -1. */
  fly() {
    const side = this.speed[0] < 0 ? 0 : 1;
    const sign = side === 0 ? -1 : 1;
    const line = LINE - BALL;
    const oldX = this.ball[0] * sign;
    const oldY = this.ball[1];
    let x = oldX + this.speed[0] * sign;
    let y = oldY + this.speed[1];
    let hit = false;
    if (oldX < line && line <= x) {
      const crossing = oldY + ((line - oldX) / (x - oldX)) * (y - oldY);
      const offset = (crossing - this.paddles[side]) / (HALF + BALL);
      if (Math.abs(offset) <= 1) {
        hit = true;
        x = 2 * line - x;
        this.rally += 1;
        this.speed = [-sign * Math.min(SERVE + FASTER * this.rally, FASTEST), SLICE * offset];
      }
    }
    const wall = 1 - BALL;
    if (y > wall) {
      y = 2 * wall - y;
      this.speed[1] = -Math.abs(this.speed[1]);
    } else if (y < -wall) {
      y = -2 * wall - y;
      this.speed[1] = Math.abs(this.speed[1]);
    }
    this.ball = [x * sign, y];
    return x > 1 && !hit ? side : -1;
  }

  /** What a side sees, as if it defended the left.
   * @param {number} side @returns {number[]} */
  seen(side) {
    const sign = side === 0 ? 1 : -1;
    const other = 1 - side;
    return [
      this.ball[0] * sign, this.ball[1], this.speed[0] * sign * 16, this.speed[1] * 16,
      this.paddles[side], this.moved[side] * 25, this.paddles[other], this.moved[other] * 25,
    ].map(Math.fround);
  }

  /** A row as drawings take it. */
  row() {
    return [...this.ball, ...this.paddles, ...this.points];
  }
}
