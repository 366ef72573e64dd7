// A saved agent's network in the browser: layers of plain units, from the two files of the policy.

const CLIP = 10; // normalised inputs end here, as in engine/rl/normalise.py
const SLOPE = 0.01;
/** @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = { leaky_relu: (x) => (x > 0 ? x : SLOPE * x), relu: (x) => Math.max(0, x), tanh: Math.tanh };

/** The tensors of a safetensors file: a length, a JSON header of that length, then the numbers.
 * @param {ArrayBuffer} file @returns {Record<string, { shape: number[], numbers: Float32Array }>} */
export function tensors(file) {
  const length = Number(new DataView(file).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
  delete header.__metadata__;
  return Object.fromEntries(
    Object.entries(header).map(([name, { shape, data_offsets: [from, to] }]) => [
      name,
      { shape, numbers: new Float32Array(file.slice(8 + length + from, 8 + length + to)) },
    ]),
  );
}

export class Network {
  /** @param {ArrayBuffer} file @param {string} activation @param {string} input the name of what it sees */
  constructor(file, activation, input) {
    this.tensors = tensors(file);
    this.activated = ACTIVATIONS[activation];
    this.input = input;
    this.layers = Object.keys(this.tensors).filter((name) => /^policy\.\d+\.weight$/.test(name)).length;
  }

  /** The numbers that decide, one for each choice.
   * @param {number[]} seen @returns {number[]} */
  numbers(seen) {
    let x = this.scaled(seen);
    for (let i = 0; i < this.layers; i += 1) x = this.linear(`policy.${i}`, x).map(this.activated);
    return this.linear("action.0", x);
  }

  /** @param {number[]} seen */
  scaled(seen) {
    const mean = this.tensors[`normaliser.${this.input}.mean`];
    const spread = this.tensors[`normaliser.${this.input}.spread`];
    if (!mean || !spread) return seen;
    return seen.map((x, i) => Math.min(CLIP, Math.max(-CLIP, (x - mean.numbers[i]) / spread.numbers[i])));
  }

  /** @param {string} name @param {number[]} x */
  linear(name, x) {
    const { shape: [rows, columns], numbers: weight } = this.tensors[`${name}.weight`];
    const bias = this.tensors[`${name}.bias`].numbers;
    return Array.from({ length: rows }, (_, row) => {
      let sum = bias[row];
      for (let i = 0; i < columns; i += 1) sum += weight[row * columns + i] * x[i];
      return sum;
    });
  }
}

/** The likeliest choice, the first of equals.
 * @param {number[]} numbers */
export const best = (numbers) => numbers.indexOf(Math.max(...numbers));

/** A choice drawn by its odds; `mark` from 0 to 1.
 * @param {number[]} numbers @param {number} mark */
export function drawn(numbers, mark) {
  const most = Math.max(...numbers);
  const weights = numbers.map((x) => Math.exp(x - most));
  let rest = mark * weights.reduce((a, b) => a + b, 0);
  for (const [i, weight] of weights.entries()) {
    rest -= weight;
    if (rest < 0) return i;
  }
  return numbers.length - 1;
}

/** The network of an agent; none, and `trouble` to be seen, where it cannot be fetched.
 * @param {{ weights: string, activation: string, input: string }} agent @param {HTMLElement} trouble @returns {Promise<Network | null>} */
export async function fetched(agent, trouble) {
  const answer = await fetch(agent.weights).catch(() => null);
  trouble.hidden = Boolean(answer?.ok);
  return answer?.ok ? new Network(await answer.arrayBuffer(), agent.activation, agent.input) : null;
}
