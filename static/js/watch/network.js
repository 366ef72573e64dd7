// A saved agent's network in the browser: layers of plain units and, where it has one, a memory (an LSTM), from the two
// files of the policy.

const CLIP = 10; // normalised inputs end here, as in engine/rl/normalise.py
const SLOPE = 0.01;
/** @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = { leaky_relu: (x) => (x > 0 ? x : SLOPE * x), relu: (x) => Math.max(0, x), tanh: Math.tanh };

/** @param {number} x */
const share = (x) => 1 / (1 + Math.exp(-x));

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
    const units = "lstm.bias" in this.tensors ? this.tensors["lstm.bias"].shape[0] / 4 : 0;
    /** @type {number[]} */
    this.cell = new Array(units).fill(0);
    this.output = this.cell;
  }

  /** A new battle begins: nothing is remembered. */
  forget() {
    this.cell = this.cell.map(() => 0);
    this.output = this.cell;
  }

  /** The numbers that decide, one for each choice. One with a memory remembers what it saw.
   * @param {number[]} seen @returns {number[]} */
  numbers(seen) {
    let x = this.scaled(seen);
    for (let i = 0; i < this.layers; i += 1) x = this.linear(`policy.${i}`, x).map(this.activated);
    if (this.cell.length) x = this.remember(x);
    return this.linear("action.0", x);
  }

  /** @param {number[]} seen */
  scaled(seen) {
    const mean = this.tensors[`normaliser.${this.input}.mean`];
    const spread = this.tensors[`normaliser.${this.input}.spread`];
    if (!mean || !spread) return seen;
    return seen.map((x, i) => Math.min(CLIP, Math.max(-CLIP, (x - mean.numbers[i]) / spread.numbers[i])));
  }

  /** A step of the memory: its gates are what is let in, what is kept, what is new and what is let out.
   * @param {number[]} x */
  remember(x) {
    const units = this.cell.length;
    const bias = this.tensors["lstm.bias"].numbers;
    const fresh = this.product("lstm.input", x, bias);
    const gates = this.product("lstm.state", this.output, bias.map(() => 0)).map((sum, i) => sum + fresh[i]);
    this.cell = this.cell.map((kept, i) => share(gates[units + i]) * kept + share(gates[i]) * Math.tanh(gates[2 * units + i]));
    this.output = this.cell.map((kept, i) => share(gates[3 * units + i]) * Math.tanh(kept));
    return this.output;
  }

  /** @param {string} name @param {number[]} x */
  linear(name, x) {
    return this.product(`${name}.weight`, x, this.tensors[`${name}.bias`].numbers);
  }

  /** @param {string} name @param {number[]} x @param {Float32Array} bias */
  product(name, x, bias) {
    const { shape: [rows, columns], numbers: weight } = this.tensors[name];
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

/** A choice of each part of an action that has several, from the numbers of all of them in a row.
 * @param {number[]} numbers @param {number[]} sizes how many choices each part has @param {boolean} sampled by their odds */
export function parts(numbers, sizes, sampled) {
  let first = 0;
  return sizes.map((size) => {
    const own = numbers.slice(first, (first += size));
    return sampled ? drawn(own, Math.random()) : best(own);
  });
}

/** The network of an agent; none, and `trouble` to be seen, where it cannot be fetched.
 * @param {{ weights: string, activation: string, input: string }} agent @param {HTMLElement} trouble @returns {Promise<Network | null>} */
export async function fetched(agent, trouble) {
  const answer = await fetch(agent.weights).catch(() => null);
  trouble.hidden = Boolean(answer?.ok);
  return answer?.ok ? new Network(await answer.arrayBuffer(), agent.activation, agent.input) : null;
}
