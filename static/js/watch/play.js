// A person plays Pong against a saved agent, here in the page: the person on the left, the agent on the right. Nothing of
// it is stored.
import { embedded, find } from "../elements.js";
import { PlayButton, speeds } from "./controls.js";
import { Hands } from "./hands.js";
import { best, drawn, fetched } from "./network.js";
/** @import { Network } from "./network.js" */
import * as pong from "./pong.js";
import { Battle, DOWN, STAY, UP } from "./pong_rules.js";
import { anySeed } from "./splitmix.js";

/** What the page says of the agent; `delay` and `apart` are its limits (hands.js).
 * @type {{ weights: string, activation: string, input: string, sampled: boolean, skip: number, points: number, name: string, delay: number, apart: number }} */
const agent = embedded("play-agent");
const MOMENTS_A_SECOND = 40;
const MOST_AT_ONCE = 5; // moments: after a pause of the browser the battle does not leap
const NEAR = 0.03;
/** @type {Record<string, number>} */
const KEYS = { ArrowUp: UP, ArrowDown: DOWN, w: UP, s: DOWN };

/** A new battle. */
const fresh = () => new Battle(anySeed());

class Match {
  /** @param {HTMLElement} stage @param {Network} network */
  constructor(stage, network) {
    this.network = network;
    this.canvas = find(stage, "canvas", HTMLCanvasElement);
    this.button = new PlayButton(stage, "[data-begin]", () => this.toggle());
    this.speed = speeds(stage, this.button.element);
    this.points = find(stage, "[data-points]");
    this.words = find(stage, "[data-commentary]");
    /** @type {Set<string>} */
    this.held = new Set();
    /** @type {number | null} */
    this.aim = null;
    this.playing = false;
    this.before = 0;
    this.battle = fresh();
    this.moments = 0;
    this.spare = 0;
    this.reply = STAY;
    this.hands = new Hands(agent, [STAY]);
    this.over = false;
    document.addEventListener("keydown", (event) => this.key(event, true));
    document.addEventListener("keyup", (event) => this.key(event, false));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => (this.aim = null));
    document.addEventListener("equipoise:theme", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    addEventListener("blur", () => this.held.clear());
  }

  begin() {
    this.battle = fresh();
    this.moments = 0;
    this.spare = 0;
    this.reply = STAY;
    this.hands = new Hands(agent, [STAY]);
    this.network.forget();
    this.over = false;
  }

  toggle() {
    if (this.over) this.begin();
    this.playing = !this.playing;
    this.button.name(this.playing ? "Pause" : "Go on", this.playing);
    this.words.textContent = "";
    this.before = performance.now();
    if (this.playing) requestAnimationFrame((now) => this.step(now));
  }

  /** @param {KeyboardEvent} event @param {boolean} down */
  key(event, down) {
    if (event.key === " " && down && !event.repeat) this.space(event);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key; // let go under Shift, it is another letter
    if (!(key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea, summary")) return;
    if (down) this.held.add(key);
    else this.held.delete(key);
    this.aim = null;
    if (this.playing) event.preventDefault();
  }

  /** Space begins and pauses, wherever nothing else takes the key.
   * @param {KeyboardEvent} event */
  space(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("button, a, input, select, textarea, summary")) return;
    this.toggle();
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  point(event) {
    const { top, height } = this.canvas.getBoundingClientRect();
    this.aim = 1 - (2 * (event.clientY - top)) / height;
  }

  /** What the person does now. */
  action() {
    const held = [...this.held].at(-1);
    if (held !== undefined) return KEYS[held];
    if (this.aim === null) return STAY;
    const gap = this.aim - this.battle.paddles[0];
    return Math.abs(gap) <= NEAR ? STAY : gap > 0 ? UP : DOWN;
  }

  /** What the agent does now: it decides as often as it learned to. */
  answer() {
    if (this.moments % agent.skip === 0) {
      const numbers = this.network.numbers(this.battle.seen(1));
      [this.reply] = this.hands.do([agent.sampled ? drawn(numbers, Math.random()) : best(numbers)]);
    }
    this.moments += 1;
    return this.reply;
  }

  /** @param {number} now */
  step(now) {
    if (!this.playing) return;
    const pace = (MOMENTS_A_SECOND * this.speed()) / 1000;
    this.spare = Math.min(MOST_AT_ONCE, this.spare + Math.max(0, now - this.before) * pace);
    this.before = now;
    while (this.spare >= 1 && !this.over) {
      this.spare -= 1;
      this.battle.moment(this.action(), this.answer());
      this.over = Math.max(...this.battle.points) >= agent.points;
    }
    this.draw();
    if (this.over) this.end();
    else requestAnimationFrame((later) => this.step(later));
  }

  end() {
    this.playing = false;
    const [own, other] = this.battle.points;
    this.words.textContent = own > other ? `You won ${own} to ${other}.` : `${agent.name} won ${other} to ${own}.`;
    this.button.name("Play again", false);
  }

  draw() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const c = this.canvas.getContext("2d");
    if (!width || !c) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const row = this.battle.row();
    pong.draw(c, width, height, row, pong.colours(this.canvas));
    this.points.textContent = pong.points(row);
  }
}

async function open() {
  const stage = find(document, "[data-play-stage]");
  const network = await fetched(agent, find(stage, "[data-trouble]"));
  if (network) new Match(stage, network).button.element.disabled = false;
}

void open();
