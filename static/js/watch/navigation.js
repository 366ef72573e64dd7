// Draws a moment of cooperative navigation. A row is x and y of the middles of all agents, then of as many targets (from 0
// to 1, y points up), and which targets are covered; the sizes are those of the game's rules.

const TARGET = 0.15;
const BODY = 0.075;
const NUMBERS = 5; // of an agent and its share of the targets

/** How many agents a row has.
 * @param {number[]} row */
const count = (row) => row.length / NUMBERS;

/** Where everything is between two rows; `share`: how far from the first to the second.
 * @param {number[]} row @param {number[]} next @param {number[]} _before @param {number} share @returns {number[]} */
export function between(row, next, _before, share) {
  const moving = 2 * count(row);
  return row.map((value, i) => (i < moving ? value + (next[i] - value) * share : value));
}

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number[]} row
 * @param {{ own: string, target: string, covered: string }} ink */
export function draw(c, width, height, row, ink) {
  const agents = count(row);
  const scale = Math.min(width, height) / (1 + BODY);
  const left = (width - scale * (1 + BODY)) / 2;
  const top = (height - scale * (1 + BODY)) / 2;
  const across = (/** @type {number} */ x) => left + x * scale;
  const down = (/** @type {number} */ y) => top + (1 + BODY - y) * scale;
  c.clearRect(0, 0, width, height);
  c.lineWidth = 2;
  for (let t = agents; t < 2 * agents; t++) {
    const covered = row[3 * agents + t];
    const corner = [across(row[2 * t] - TARGET / 2), down(row[2 * t + 1] + TARGET / 2)];
    c.fillStyle = c.strokeStyle = covered ? ink.covered : ink.target;
    c.strokeRect(corner[0], corner[1], TARGET * scale, TARGET * scale);
    c.globalAlpha = covered ? 0.35 : 0.15;
    c.fillRect(corner[0], corner[1], TARGET * scale, TARGET * scale);
    c.globalAlpha = 1;
  }
  c.fillStyle = ink.own;
  for (let a = 0; a < agents; a++) {
    c.beginPath();
    c.arc(across(row[2 * a]), down(row[2 * a + 1]), (BODY / 2) * scale, 0, 2 * Math.PI);
    c.fill();
  }
}

/** The colours of the page's theme.
 * @param {Element} element */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  return { own: of("--accent"), target: of("--control-edge"), covered: of("--accent") };
}

/** How many targets are covered, in words.
 * @param {number[]} row */
export const points = (row) => `${row.slice(4 * count(row)).filter(Boolean).length} of ${count(row)} covered`;
