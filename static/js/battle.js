// Plays a recorded battle: one mark a unit, its side by shape and colour, its life by how full it is.
import { find, findOptional } from "./elements.js";
import { PlayButton, speeds } from "./watch/controls.js";

/** What the page is sent. `places` [frames][units] of [x, y, life]; null: not there.
 * @typedef {{ units: { side: string, name: string, role: string }[], ticks: number[], events: string[][],
 *   places: (number | null)[][][] }} Battle */

const FRAMES_A_SECOND = 12;
const HEIGHT = 220;
const EDGE = 14;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** The ends of what is drawn, in the game's own units.
 * @param {Battle} battle */
function field(battle) {
  const seen = battle.places.flat().filter(([x, y]) => x !== null && y !== null);
  const xs = seen.map(([x]) => Number(x));
  const ys = seen.map(([, y]) => Number(y));
  const least = (/** @type {number[]} */ all) => all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (/** @type {number[]} */ all) => all.reduce((a, b) => Math.max(a, b), -Infinity);
  return { left: least(xs), right: most(xs), top: least(ys), bottom: most(ys) };
}

class Player {
  /** @param {HTMLElement} card @param {Battle} battle */
  constructor(card, battle) {
    this.battle = battle;
    this.ends = field(battle);
    this.canvas = find(card, "[data-battle-field]", HTMLCanvasElement);
    this.button = new PlayButton(card, "[data-battle-play]", () => (this.playing ? this.pause() : this.play()));
    this.moment = find(card, "[data-battle-moment]", HTMLInputElement);
    this.speed = speeds(card, this.button.element);
    this.words = find(card, "[data-battle-now]");
    this.last = battle.ticks.length - 1;
    this.at = 0;
    this.playing = false;
    this.before = 0;
    this.moment.max = String(this.last);
    this.moment.addEventListener("input", () => {
      this.show(Number(this.moment.value));
      this.pause();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    document.addEventListener("equipoise:theme", () => this.draw());
    this.show(0);
  }

  play() {
    if (this.at >= this.last) this.at = 0;
    this.playing = true;
    this.before = performance.now();
    this.button.name("Pause", true);
    requestAnimationFrame((now) => this.step(now));
  }

  pause() {
    this.playing = false;
    this.button.name(this.at >= this.last ? "Play again" : "Play", false);
  }

  /** @param {number} now */
  step(now) {
    if (!this.playing || !this.canvas.isConnected) return;
    const passed = ((now - this.before) / 1000) * FRAMES_A_SECOND * this.speed();
    if (passed >= 1) {
      this.before = now;
      this.show(Math.min(this.last, this.at + Math.floor(passed)));
    }
    if (this.at >= this.last) this.pause();
    else requestAnimationFrame((later) => this.step(later));
  }

  /** @param {number} at */
  show(at) {
    const from = at > this.at ? this.at + 1 : at;
    this.at = at;
    this.moment.value = String(at);
    const { ticks, events } = this.battle;
    const latest = events.slice(from, at + 1).flat().at(-1);
    this.moment.setAttribute("aria-valuetext", `Moment ${ticks[at]} of ${ticks[this.last]}${latest ? `: ${latest}` : ""}`);
    if (latest || at === 0) this.words.textContent = latest ?? "It begins.";
    this.draw();
  }

  draw() {
    const ratio = devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    if (!width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = HEIGHT * ratio;
    const c = this.canvas.getContext("2d");
    if (!c) return;
    c.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const ink = { left: style.getPropertyValue("--over"), right: style.getPropertyValue("--accent") };
    this.battle.places[this.at].forEach(([x, y, life], i) => {
      if (x === null || y === null) return;
      const { side, role } = this.battle.units[i];
      this.unit(c, this.across(x, width), this.down(y), life ?? 1, side === "left", role === "hero" ? 8 : 5, side === "left" ? ink.left : ink.right);
    });
  }

  /** @param {number} x @param {number} width */
  across(x, width) {
    const { left, right } = this.ends;
    return EDGE + ((width - 2 * EDGE) * (x - left)) / (right - left || 1);
  }

  /** @param {number} y */
  down(y) {
    const { top, bottom } = this.ends;
    return EDGE + ((HEIGHT - 2 * EDGE) * (y - top)) / (bottom - top || 1);
  }

  /** A diamond on the left side, a circle on the right; the fallen are faint.
   * @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} life
   * @param {boolean} left @param {number} size @param {string} ink */
  unit(c, x, y, life, left, size, ink) {
    c.globalAlpha = life > 0 ? 0.35 + 0.65 * life : 0.12;
    c.fillStyle = ink;
    c.beginPath();
    if (left) {
      [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]].forEach(([dx, dy]) => c.lineTo(x + size * dx, y + size * dy));
      c.closePath();
    } else c.arc(x, y, size, 0, 2 * Math.PI);
    c.fill();
    c.globalAlpha = 1;
  }
}

/** @param {HTMLElement} card */
async function open(card) {
  const button = find(card, "[data-battle-open]", HTMLButtonElement);
  button.disabled = true;
  const answer = await fetch(String(card.dataset.battle)).catch(() => null);
  if (!answer?.ok) {
    button.disabled = false;
    button.textContent = "It could not be loaded. Try again";
    return;
  }
  button.hidden = true;
  find(card, "[data-battle-stage]").hidden = false;
  const player = new Player(card, await answer.json());
  player.button.element.focus();
  if (!calm.matches) player.play(); // who wants less motion presses Play, or moves the bar
}

const card = findOptional(document, "[data-battle]");
if (card) find(card, "[data-battle-open]").addEventListener("click", () => void open(card));
