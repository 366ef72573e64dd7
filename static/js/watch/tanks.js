// Draws a moment of tanks. A row is, in metres: x, y, cosine and sine of its direction, and life of ten fighters (the own
// five first) and two neutral tanks; x, y and whether it flies of each fighter's shell; x, y and radius of obstacles.

const HALF = 50;
const [FIGHTERS, SQUAD, TANKS] = [10, 5, 12];
const [TANK, SHELL, STONE] = [5, 3, 3]; // numbers of each
const SHELLS = TANK * TANKS;
const STONES = SHELLS + SHELL * FIGHTERS;
const LIFE = 100;
const DOT = 0.5;
const WEDGE = [
  [3.2, 0],
  [-1.8, 1.9],
  [-1.8, -1.9],
];

/** Where everything is between two rows; `share`: how far from the first to the second. A shell that was not there
 * before, or will not be, stays where it is.
 * @param {number[]} row @param {number[]} next @param {number[]} _before @param {number} share @returns {number[]} */
export function between(row, next, _before, share) {
  return row.map((value, i) => {
    const shell = i - SHELLS;
    if (i >= STONES || shell % SHELL === SHELL - 1) return value;
    const flies = SHELLS + shell - (shell % SHELL) + SHELL - 1;
    if (shell >= 0 && !(row[flies] && next[flies])) return value;
    return i < SHELLS && i % TANK === TANK - 1 ? value : value + (next[i] - value) * share;
  });
}

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {{ own: string, other: string, neutral: string, stone: string }} ink */
export function draw(c, width, height, row, ink) {
  const scale = Math.min(width, height) / (2 * HALF);
  const across = (/** @type {number} */ x) => width / 2 + x * scale;
  const down = (/** @type {number} */ y) => height / 2 - y * scale;
  /** @type {(fill: string, x: number, y: number, radius: number) => void} */
  const disc = (fill, x, y, radius) => {
    c.fillStyle = fill;
    c.beginPath();
    c.arc(across(x), down(y), radius * scale, 0, 2 * Math.PI);
    c.fill();
  };
  c.clearRect(0, 0, width, height);
  c.strokeStyle = ink.stone;
  c.lineWidth = 1;
  c.strokeRect(across(-HALF) + 0.5, down(HALF) + 0.5, 2 * HALF * scale - 1, 2 * HALF * scale - 1);
  for (let k = STONES; k < row.length; k += STONE) disc(ink.stone, row[k], row[k + 1], row[k + 2]);
  for (let i = 0; i < TANKS; i++) tank(c, row.slice(TANK * i, TANK * (i + 1)), i, ink, across, down);
  for (let i = 0; i < FIGHTERS; i++) {
    const [x, y, flies] = row.slice(SHELLS + SHELL * i, SHELLS + SHELL * (i + 1));
    if (flies) disc(i < SQUAD ? ink.own : ink.other, x, y, DOT);
  }
}

/** A wedge that points where the tank looks; a dead one is not there.
 * @param {CanvasRenderingContext2D} c @param {number[]} tank @param {number} i
 * @param {{ own: string, other: string, neutral: string, stone: string }} ink
 * @param {(x: number) => number} across @param {(y: number) => number} down */
function tank(c, [x, y, cos, sin, life], i, ink, across, down) {
  if (life <= 0) return;
  const size = i < FIGHTERS ? 1 : 0.75;
  const [own, neutral] = [i < SQUAD, i >= FIGHTERS];
  c.beginPath();
  for (const [along, aside] of WEDGE) {
    c.lineTo(across(x + size * (along * cos - aside * sin)), down(y + size * (along * sin + aside * cos)));
  }
  c.closePath();
  c.fillStyle = neutral ? ink.neutral : own ? ink.own : ink.other;
  c.globalAlpha = 0.3 + (0.7 * life) / LIFE;
  c.fill();
  c.globalAlpha = 1;
  if (!own && !neutral) {
    c.strokeStyle = ink.neutral;
    c.stroke();
  }
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), other: of("--context-mark"), neutral: of("--ink"), stone: of("--control-edge") };
}

/** How many tanks of both teams are left, in words.
 * @param {number[]} row */
export function points(row) {
  const left = (/** @type {number} */ first) =>
    [...Array(SQUAD).keys()].filter((i) => row[TANK * (first + i) + TANK - 1] > 0).length;
  return `${left(0)} : ${left(SQUAD)} left`;
}
