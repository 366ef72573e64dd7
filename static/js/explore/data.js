// Reads the engine's array container (engine/arrays.py) without copying: every column is a view of the answer's buffer.
const MAGIC = "EQARR\0\0\u0001";
/** A column's numbers.
 * @typedef {Uint8Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Int16Array<ArrayBuffer>
 *   | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>} Numbers */
/** @template {Numbers} [N=Numbers] @typedef {{ data: N, shape: number[] }} Column */
/** What a file holds. @template M @template A @typedef {{ meta: M, arrays: A }} Container */

/** @type {Record<string, new (buffer: ArrayBuffer, offset: number, length: number) => Numbers>} */
const VIEWS = {
  "|u1": Uint8Array, "|i1": Int8Array, "<u2": Uint16Array, "<i2": Int16Array,
  "<u4": Uint32Array, "<i4": Int32Array, "<f4": Float32Array, "<f8": Float64Array,
};

/** {meta, arrays: {name: {data, shape}}} of one container.
 * @param {ArrayBuffer} buffer */
function unpack(buffer) {
  if (String.fromCharCode(...new Uint8Array(buffer, 0, 8)) !== MAGIC) throw new Error("This is not an array file.");
  const length = new DataView(buffer).getUint32(8, true);
  /** @type {{ meta: unknown, arrays: { name: string, dtype: string, shape: number[], offset: number }[] }} */
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 12, length)));
  /** @type {Record<string, Column>} */
  const arrays = {};
  for (const { name, dtype, shape, offset } of header.arrays) {
    const size = shape.reduce((a, b) => a * b, 1);
    arrays[name] = { data: new VIEWS[dtype](buffer, 12 + length + offset, size), shape };
  }
  return { meta: header.meta, arrays };
}

/** The rows of a two-dimensional column, each a view.
 * @param {Column<Float32Array<ArrayBuffer>>} column */
export function rowsOf({ data, shape: [count, width] }) {
  return Array.from({ length: count }, (_, j) => data.subarray(j * width, (j + 1) * width));
}

/** The file is of a state that the job has left behind. */
export class GoneOn extends Error {}

/** Fetch one file, which holds a C; an answer that is none becomes an Error whose message can be shown, a GoneOn where
 * the job has gone on since its address was given.
 * @template C @param {string} url @returns {Promise<C>} */
export async function load(url) {
  const answer = await fetch(url, { credentials: "same-origin" });
  if (answer.ok) return /** @type {C} */ (unpack(await answer.arrayBuffer()));
  if (answer.status === 404) throw new GoneOn("The lineups have changed again and again. Load the page again in a moment.");
  const json = answer.headers.get("Content-Type")?.includes("json");
  throw new Error(json ? (await answer.json()).error : "The lineups could not be read. Load the page again in a moment.");
}
