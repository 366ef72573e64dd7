// Plays recorded battles side by side: one clock for all, positions between two moments are worked out. Whoever wants
// less motion gets no motion in between, and nothing that starts by itself.
import { whole as count } from "../charts/format.js";
import { find, findAll } from "../elements.js";
import * as atariPong from "./atari-pong.js";
import * as commanders from "./commanders.js";
import { PlayButton, speeds } from "./controls.js";
import * as goal from "./goal.js";
import * as halfField from "./half-field.js";
import * as maze from "./maze.js";
import * as navigation from "./navigation.js";
import * as platform from "./platform.js";
import * as pong from "./pong.js";
import * as tanks from "./tanks.js";

/** All of a battle: what stays as it is, every row, the last one so far, and names.
 * @typedef {{ scenery: number[][], rows: number[][], whole: number, labels: string[] }} Scene */

/** What draws a game; `says`: what else there is to read of the moment before a row, a line each.
 * @typedef {{ between: typeof pong.between, points: typeof pong.points, colours: (element: Element) => any,
 * draw: (c: CanvasRenderingContext2D, width: number, height: number, row: number[], ink: any, scene: Scene) => void,
 * says?: (row: number[], labels: string[]) => string[] }} Drawing */

/** By the name that recordings say.
 * @type {Record<string, Drawing>} */
const DRAWINGS = { "atari-pong": atariPong, commanders, goal, "half-field": halfField, maze, navigation, platform, pong, tanks };
const LEAP = 10;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** One battle: its canvas and its points.
 * @typedef {{ canvas: HTMLCanvasElement, points: HTMLElement, says: HTMLElement[], title: string, rows: number[][], labels: string[] }} Pane */

class Player {
  /** @param {HTMLElement} stage @param {{ drawing: string, pace: number, battles: number[][][], scenery: number[][], labels: string[][] }} told */
  constructor(stage, told) {
    this.drawing = DRAWINGS[told.drawing];
    this.scenery = told.scenery;
    this.pace = told.pace;
    /** @type {Pane[]} */
    this.panes = findAll(stage, "[data-pane]").map((pane, i) => ({
      canvas: find(pane, "canvas", HTMLCanvasElement),
      points: find(pane, "[data-points]"),
      says: findAll(pane, "[data-says]"),
      title: String(pane.dataset.pane),
      rows: told.battles[i],
      labels: told.labels[i],
    }));
    this.button = new PlayButton(stage, "[data-play]", () => this.toggle());
    this.bar = find(stage, "[data-moment]", HTMLInputElement);
    this.speed = speeds(stage, this.button.element);
    this.clock = find(stage, "[data-clock]");
    this.last = Math.max(...told.battles.map((rows) => rows.length - 1));
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
    const ratio = devicePixelRatio || 1;
    for (const { canvas, points, says, rows, labels } of this.panes) {
      const { clientWidth: width, clientHeight: height } = canvas;
      const c = canvas.getContext("2d");
      if (!width || !c) continue;
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      const row = this.row(rows);
      const scene = { scenery: this.scenery, rows, whole: Math.floor(this.at), labels };
      this.drawing.draw(c, width, height, row, this.drawing.colours(canvas), scene);
      points.textContent = this.drawing.points(row);
      const decided = rows[Math.min(scene.whole + 1, rows.length - 1)];
      this.drawing.says?.(decided, labels).forEach((words, i) => {
        if (says[i].textContent !== words) says[i].textContent = words;
      });
    }
  }

  /** What a battle shows now; one that has ended stays as it ended.
   * @param {number[][]} rows */
  row(rows) {
    const whole = Math.min(Math.floor(this.at), rows.length - 1);
    if (whole >= rows.length - 1 || calm.matches) return rows[whole];
    return this.drawing.between(rows[whole], rows[whole + 1], rows[Math.max(0, whole - 1)], this.at - whole);
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
