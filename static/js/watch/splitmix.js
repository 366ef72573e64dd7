// Random numbers as engine/rng.py draws them: hashes of 64-bit words, so that a seed gives the same battle here and there.

const WORD = (1n << 64n) - 1n;
const GOLDEN = 0x9e3779b97f4a7c15n;
const FIRST = 0xbf58476d1ce4e5b9n;
const SECOND = 0x94d049bb133111ebn;

/** SplitMix64's mixing of a 64-bit word.
 * @param {bigint} word */
export function mix(word) {
  let z = (word ^ (word >> 30n)) * FIRST & WORD;
  z = (z ^ (z >> 27n)) * SECOND & WORD;
  return z ^ (z >> 31n);
}

/** @param {bigint} a @param {bigint} b */
export const combine = (a, b) => mix((mix(a) + GOLDEN + b) & WORD);

/** A key for each member of a side, from the side's own.
 * @param {bigint} key @param {number} member */
export const keyOf = (key, member) => mix((key + BigInt(member) * GOLDEN) & WORD);

/** The random stream of one side of a battle of herobattle (its kernel's `stream`).
 * @param {bigint} seed @param {number} side */
export const stream = (seed, side) => mix((mix((seed + GOLDEN) & WORD) + BigInt(side + 1) * SECOND) & WORD);

/** A number from 0 to 1, without 1, for one event at one moment (the kernel's `draw`).
 * @param {bigint} key @param {number} moment @param {number} event */
export function draw(key, moment, event) {
  let x = (key + BigInt(moment) * GOLDEN + BigInt(event)) * FIRST & WORD;
  x = (x ^ (x >> 32n)) * SECOND & WORD;
  return Number((x ^ (x >> 32n)) >> 11n) / 9007199254740992;
}

/** A seed that nobody chose. */
export const anySeed = () => crypto.getRandomValues(new BigUint64Array(1))[0];
