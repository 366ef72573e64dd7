// How fast a job goes and how long it still takes, from the numbers of its rounds. No page, no drawing.
const BLOCKS = 8;
const LEAST_ROUNDS = 4;

/** How many a second (battles, decisions) between neighbouring rounds that were kept; ``counts`` are totals so far.
 * @param {number[]} seconds @param {number[]} counts */
export function speeds(seconds, counts) {
  const found = [];
  for (let i = 1; i < seconds.length; i += 1) {
    const took = seconds[i] - seconds[i - 1];
    if (took > 0) found.push((counts[i] - counts[i - 1]) / took);
  }
  return found;
}

/** {count, took}: how many in how many seconds over the last tenth of the rounds, five at least; null before there are two.
 * @param {number[]} seconds @param {number[]} counts */
function lately(seconds, counts) {
  const last = seconds.length - 1;
  const from = Math.max(0, last - Math.max(5, Math.floor(last / 10)));
  const took = seconds[last] - seconds[from];
  return last > from && took > 0 ? { count: counts[last] - counts[from], took } : null;
}

const SHORT = 60; // seconds; of a shorter run the start and the end are so large a part that its speed says nothing

/** [how many a second, or null; over what]: over the last rounds while the job is ``running``, else the ``total`` over
 * all that it ``took``, which the page tells above it, or over its ``seconds`` so far. A short run has no speed.
 * ``counts`` and ``times``: the rounds' totals so far.
 * @param {string} unit
 * @param {boolean} running
 * @param {{ times: number[], counts: number[], total: number, seconds: number, took: number | null }} counted
 * @returns {[pace: number | null, what: string]} */
export function speedText(unit, running, { times, counts, total, seconds, took }) {
  const whole = took ?? seconds;
  if (!(whole > 0 && total)) return [null, `${unit} a second`];
  const counted = `${total.toLocaleString("en-GB")} in ${duration(whole)}`;
  if (whole < SHORT) return [null, running ? `${unit} a second, told after a minute` : `${unit}: ${counted}, too short for a speed`];
  const now = running ? lately(times, counts) : null;
  if (now) return [now.count / now.took, `${unit} a second, over the last ${duration(now.took)}`];
  return [total / whole, `${unit} a second: ${counted}, ${took ? "start and end included" : "so far"}`];
}

/** Seconds left as [low, middle, high], from how evenly the last rounds went; null while it is too early to say.
 * @param {{ tick: number[], seconds: number[] }} rounds
 * @param {number} ticks
 * @returns {[low: number, middle: number, high: number] | null} */
export function timeLeft({ tick, seconds }, ticks) {
  const last = tick.length - 1;
  if (last < LEAST_ROUNDS || !ticks || tick[last] >= ticks) return null;
  const from = Math.max(0, last - Math.max(LEAST_ROUNDS, Math.floor(last / 3)));
  const count = Math.min(BLOCKS, last - from);
  const perRound = [];
  for (let block = 0; block < count; block += 1) {
    const a = from + Math.floor(((last - from) * block) / count);
    const b = from + Math.floor(((last - from) * (block + 1)) / count);
    if (tick[b] > tick[a]) perRound.push((seconds[b] - seconds[a]) / (tick[b] - tick[a]));
  }
  const mean = perRound.reduce((sum, pace) => sum + pace, 0) / perRound.length;
  const spread = Math.sqrt(perRound.reduce((sum, pace) => sum + (pace - mean) ** 2, 0) / Math.max(1, perRound.length - 1));
  const half = Math.max(0.06 * mean, (2 * spread) / Math.sqrt(perRound.length));
  const left = ticks - tick[last];
  return [Math.max(0, left * (mean - half)), left * mean, left * (mean + half)];
}

const EARLY = 0.05;
/** The same by the share that is done, while too few rounds are over: the start counts in it, so the range is wide.
 * @param {number} seconds @param {number} share @returns {[low: number, middle: number, high: number] | null} */
export function timeLeftByShare(seconds, share) {
  if (share < EARLY || share >= 1 || seconds <= 0) return null;
  const middle = (seconds * (1 - share)) / share;
  return [0.6 * middle, middle, 1.5 * middle];
}

const NBSP = "\u00a0";
/** @type {[size: number, name: string, below: number, belowName: string][]} */
const UNITS = [
  [86_400, "d", 3600, "h"],
  [3600, "h", 60, "min"],
  [60, "min", 1, "s"],
];

/** "14 s", "1 min 50 s", "2 h 5 min": two units at most.
 * @param {number} seconds */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  for (const [size, name, below, belowName] of UNITS) {
    if (whole < (name === "d" ? 2 * size : size)) continue; // "36 h" says more than "1 d 12 h"
    const rest = Math.floor((whole % size) / below);
    const first = `${Math.floor(whole / size)}${NBSP}${name}`;
    return rest ? `${first} ${rest}${NBSP}${belowName}` : first;
  }
  return whole ? `${whole}${NBSP}s` : `under 1${NBSP}s`;
}

/** Rounded as people say it: to 5 s under ten minutes, to minutes under two hours.
 * @param {number} seconds */
export function said(seconds) {
  const step = seconds < 20 ? 1 : seconds < 600 ? 5 : seconds < 7200 ? 60 : 900;
  return Math.round(seconds / step) * step;
}

/** "1 min 50 s to 2 min 20 s"; one of them where both are the same.
 * @param {number} low @param {number} high */
export function span(low, high) {
  const [first, last] = [duration(said(low)), duration(said(high))];
  return first === last ? first : `${first} to ${last}`;
}

/** Rounds whose edge is drawn beside the present one: about 1, 10 and 30 % of all, as round numbers.
 * @param {number} ticks @param {number} now */
export function earlyRounds(ticks, now) {
  const chosen = [0.01, 0.1, 0.3].map((share) => {
    const value = Math.max(1, share * ticks);
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 3, 5, 10].map((step) => step * power).reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a));
  });
  return [...new Set(chosen)].filter((tick) => tick < now);
}

/** Rounds whose lineups are drawn as dots around the edge: 1, 2, 5, 10, 20, 50 …
 * @param {number} now */
export function dottedRounds(now) {
  const found = [];
  for (let power = 1; power <= now; power *= 10) for (const step of [1, 2, 5]) if (step * power <= now) found.push(step * power);
  return found;
}
