// Plays recorded battles side by side: one clock for all, positions between two moments are worked out. Whoever wants
// less motion gets no motion in between, and nothing that starts by itself.
import { whole as count } from "../charts/format.js";
import { find, findAll } from "../elements.js";
import { farther, PlayButton, speeds } from "./controls.js";
import { calm, DRAWINGS, paint, rowAt } from "./scene.js";

const LEAP = 10;

/** One battle: its canvas and its points.
 * @typedef {{ canvas: HTMLCanvasElement, points: HTMLElement, says: HTMLElement[], shows: HTMLElement | undefined, ended: HTMLElement | undefined, title: string, rows: number[][], labels: string[] }} Pane */

/** How a battle ended is told at its end, and not before.
 * @param {HTMLElement} ended @param {boolean} over */
function tell(ended, over) {
  ended.dataset.sentence ??= ended.textContent ?? "";
  const words = over ? ended.dataset.sentence : String(ended.dataset.ended);
  if (ended.textContent !== words) ended.textContent = words;
  ended.classList.toggle("muted", !over);
}

class Player {
  /** @param {HTMLElement} stage @param {{ drawing: string, pace: number, battles: number[][][], scenery: number[][], labels: string[][] }} scene */
  constructor(stage, scene) {
    this.drawing = DRAWINGS[scene.drawing];
    this.scenery = scene.scenery;
    this.pace = scene.pace;
    /** @type {Pane[]} */
    this.panes = findAll(stage, "[data-pane]").map((pane, i) => ({
      canvas: find(pane, "canvas", HTMLCanvasElement),
      points: find(pane, "[data-points]"),
      says: findAll(pane, "[data-says]"),
      shows: findAll(pane, "[data-shows]")[0],
      ended: findAll(pane, "[data-ended]")[0],
      title: String(pane.dataset.pane),
      rows: scene.battles[i],
      labels: scene.labels[i],
    }));
    for (const leap of findAll(stage, "[data-leap]")) {
      leap.hidden = false;
      leap.addEventListener("click", () => {
        this.show(Number(leap.dataset.leap));
        this.pause();
      });
    }
    this.button = new PlayButton(stage, "[data-play]", () => this.toggle());
    this.bar = find(stage, "[data-moment]", HTMLInputElement);
    this.speed = speeds(stage, this.button.element);
    this.far = farther(stage, () => this.draw());
    this.clock = find(stage, "[data-clock]");
    this.last = Math.max(...scene.battles.map((rows) => rows.length - 1));
    this.at = 0;
    this.playing = false;
    this.before = 0;
    this.bar.max = String(this.last);
    this.bar.addEventListener("input", () => {
      this.show(Number(this.bar.value));
      this.pause();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("equipoise:theme", () => this.draw());
    const seen = new ResizeObserver(() => this.draw());
    for (const { canvas } of this.panes) seen.observe(canvas);
    this.show(0);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
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
    if (!this.playing) return;
    const passed = (Math.max(0, now - this.before) / 1000) * this.pace * this.speed();
    this.before = now;
    this.show(Math.min(this.last, this.at + passed));
    if (this.at >= this.last) this.pause();
    else requestAnimationFrame((later) => this.step(later));
  }

  /** Space plays and pauses, arrows leap, wherever nothing else takes the key.
   * @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("select, textarea, input:not([data-moment])")) return;
    const leaps = target === this.bar ? 0 : { ArrowLeft: -LEAP, ArrowRight: LEAP }[event.key];
    if (event.key === " " && !target.closest("button, a, summary")) this.toggle();
    else if (leaps) {
      this.show(Math.min(this.last, Math.max(0, Math.round(this.at) + leaps)));
      this.pause();
    } else return;
    event.preventDefault();
  }

  /** @param {number} at */
  show(at) {
    this.at = at;
    const whole = Math.floor(at);
    this.bar.value = String(whole);
    const said = this.panes.map(({ title, rows }) => `${title} ${this.drawing.points(rows[Math.min(whole, rows.length - 1)])}`);
    this.bar.setAttribute("aria-valuetext", `Decision ${whole} of ${this.last}: ${said.join(", ")}`);
    this.clock.textContent = `Decision ${count(whole)} of ${count(this.last)}`;
    this.draw();
  }

  draw() {
    for (const { canvas, points, says, ended, shows, rows, labels } of this.panes) {
      if (ended) tell(ended, this.at >= rows.length - 1);
      shows?.classList.toggle("battle-shown", this.at >= Number(shows.dataset.shows));
      const row = rowAt(this.drawing, rows, this.at);
      const scene = { scenery: this.scenery, rows, whole: Math.floor(this.at), labels, far: this.far() };
      if (!paint(canvas, this.drawing, row, scene)) continue;
      points.textContent = this.drawing.points(row);
      const decided = rows[Math.min(scene.whole + 1, rows.length - 1)];
      this.drawing.says?.(decided, labels).forEach((words, i) => {
        if (says[i].textContent !== words) says[i].textContent = words;
      });
    }
  }
}

/** @param {HTMLElement} stage */
async function open(stage) {
  const answer = await fetch(String(stage.dataset.stage)).catch(() => null);
  const trouble = find(stage, "[data-trouble]");
  if (!answer?.ok) {
    trouble.hidden = false;
    return;
  }
  const player = new Player(stage, await answer.json());
  find(stage, "[data-keys]").hidden = false;
  if (!calm.matches) player.play();
}

for (const stage of findAll(document, "[data-stage]")) void open(stage);
