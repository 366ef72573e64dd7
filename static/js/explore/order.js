// Sorting a hundred thousand rows without comparing them: radix sort of 32-bit keys, stable, on typed arrays.
/** Row numbers. @typedef {Uint32Array<ArrayBuffer>} Rows */

const BITS = 16;
const BUCKETS = 1 << BITS;

/** The whole numbers below `count`. @param {number} count */
export const rising = (count) => Uint32Array.from({ length: count }, (_, i) => i);

/** Row numbers that put `keys` (Float32Array) in rising order; equal keys keep their order in `start`.
 * @param {Float32Array<ArrayBuffer>} keys @param {Rows} [start] */
export function argsort(keys, start) {
  const n = keys.length;
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, n).slice();
  for (let i = 0; i < n; i += 1) {
    if (bits[i] === 0x80000000) bits[i] = 0; // -0 is 0
    bits[i] ^= bits[i] >>> 31 ? 0xffffffff : 0x80000000; // floats now sort as whole numbers
  }
  let order = start ?? rising(n);
  for (let shift = 0; shift < 32; shift += BITS) order = pass(bits, order, shift);
  return order;
}

/** @param {Rows} bits @param {Rows} order @param {number} shift */
function pass(bits, order, shift) {
  const n = order.length;
  const at = new Uint32Array(BUCKETS + 1);
  for (let i = 0; i < n; i += 1) at[((bits[i] >>> shift) & (BUCKETS - 1)) + 1] += 1;
  for (let b = 0; b < BUCKETS; b += 1) at[b + 1] += at[b];
  const sorted = new Uint32Array(n);
  for (let i = 0; i < n; i += 1) {
    const row = order[i];
    const bucket = (bits[row] >>> shift) & (BUCKETS - 1);
    sorted[at[bucket]] = row;
    at[bucket] += 1;
  }
  return sorted;
}

/** The same for small whole numbers, largest first.
 * @param {Uint8Array} groups @param {Rows} order @param {number} count */
export function byGroup(groups, order, count) {
  const at = new Uint32Array(count + 1);
  for (const group of groups) at[group] += 1;
  let sum = 0;
  for (let g = count - 1; g >= 0; g -= 1) [at[g], sum] = [sum, sum + at[g]];
  const sorted = new Uint32Array(order.length);
  for (const row of order) {
    sorted[at[groups[row]]] = row;
    at[groups[row]] += 1;
  }
  return sorted;
}
