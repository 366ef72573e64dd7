// Clips on the cards of agents: some seconds of a battle. One stands still until somebody presses its button or rests the
// pointer on it; a press keeps it going. Who wants less motion starts it by hand.
import { find, findAll } from "../elements.js";
import { PlayButton } from "./controls.js";
import { calm, DRAWINGS, paint, rowAt } from "./scene.js";

class Clip {
  /** @param {HTMLElement} frame @param {{ drawing: string, pace: number, positions: number[][], scenery: number[][], labels: string[] }} clip */
  constructor(frame, clip) {
    this.canvas = find(frame, "canvas", HTMLCanvasElement);
    this.drawing = DRAWINGS[clip.drawing];
    this.clip = clip;
    this.at = Math.floor(clip.positions.length / 2);
    this.before = 0;
    this.pressed = false;
    this.playing = false;
    this.button = new PlayButton(frame, "[data-play]", () => this.press());
    this.button.element.hidden = false;
    frame.addEventListener("pointerenter", () => calm.matches || this.go(true));
    frame.addEventListener("pointerleave", () => this.pressed || this.go(false));
    document.addEventListener("equipoise:theme", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  press() {
    this.pressed = !this.pressed;
    this.go(this.pressed);
  }

  /** @param {boolean} playing */
  go(playing) {
    this.button.name(this.pressed ? "Pause" : "Play", this.pressed);
    if (playing === this.playing) return;
    this.playing = playing;
    this.before = performance.now();
    if (playing) requestAnimationFrame((now) => this.step(now));
  }

  /** @param {number} now */
  step(now) {
    if (!this.playing || !this.canvas.isConnected) return;
    this.at += (Math.max(0, now - this.before) / 1000) * this.clip.pace;
    this.before = now;
    if (this.at >= this.clip.positions.length - 1) this.at = 0;
    this.draw();
    requestAnimationFrame((later) => this.step(later));
  }

  draw() {
    const { positions: rows, scenery, labels } = this.clip;
    const row = rowAt(this.drawing, rows, this.at);
    paint(this.canvas, this.drawing, row, { scenery, rows, whole: Math.floor(this.at), labels, far: false });
  }
}

/** @param {HTMLElement} frame */
async function open(frame) {
  const answer = await fetch(String(frame.dataset.clip)).catch(() => null);
  if (answer?.ok) new Clip(frame, await answer.json());
}

const nearby = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting || !(target instanceof HTMLElement)) continue;
    nearby.unobserve(target);
    void open(target);
  }
});

/** @param {ParentNode} part of the page that is new */
const offer = (part) => findAll(part, "[data-clip]").forEach((frame) => nearby.observe(frame));

offer(document);
document.addEventListener("htmx:load", ({ detail }) => detail.elt === document.body || offer(detail.elt));
