// Three objectives as a cloud that turns. Made when it is first asked for; draws what is over the line and a sample.
import { axisTitle, plural, whole } from "../charts/format.js";
import { plotly } from "../charts/plotly.js";
import { tokens } from "../charts/theme.js";
import { BEST, STRONG, UNDER, UNSURE } from "./lineups.js";
import { split } from "./cloud.js";

const MOST_MARKS = 6000;
const MOST_DOTS = 3000;
const TURN = Math.PI / 8;
const FAR = 2.15; // of the camera: nearer, the lowest labels are cut
const NARROW = 480; // px of a plot whose titles need more room beside it
const ROOM = 0.08; // share of the range left free at both ends

/** At most `most` of `rows`, evenly spread. */
export function spread(rows, most) {
  if (rows.length <= most) return rows;
  const step = rows.length / most;
  return Uint32Array.from({ length: most }, (_, i) => rows[Math.floor(i * step)]);
}

export class ThreeD {
  constructor(store, element, note) {
    Object.assign(this, { store, element, note, angle: 0.9, made: false });
    this.plot = element.querySelector("[data-plot]");
    for (const button of element.querySelectorAll("[data-turn]")) {
      button.addEventListener("click", () => this.turn(Number(button.dataset.turn)));
    }
    store.on("filter data pick colour", () => this.draw());
    store.on("view", () => this.draw());
  }

  get axes() {
    const { strength, lined, lineups } = this.store;
    const rest = [...lineups.objectives.keys()].filter((j) => j !== strength && j !== lined);
    return [strength >= 0 ? strength : rest.pop(), rest[0] ?? 0, lined].filter((j) => j !== undefined);
  }

  rows() {
    const { lineups, match } = this.store;
    const { marks } = split(this.store);
    const rest = Uint32Array.from(match.keys()).filter((i) => !(match[i] && lineups.kind[i] !== UNDER));
    return { marks, dots: rest };
  }

  trace(rows, { name, symbol, size, colour, opacity }) {
    const [x, y, z] = this.axes.map((j) => Array.from(rows, (row) => this.store.lineups.value[j][row]));
    return { type: "scatter3d", mode: "markers", x, y, z, name, customdata: Array.from(rows), hoverinfo: "none",
      marker: { symbol, size, color: colour, opacity, line: { width: 0 } } };
  }

  async draw() {
    if (this.store.state.view !== "3d" || this.store.lineups.objectives.length < 3 || !this.store.lineups.count) return;
    const Plotly = await plotly();
    const theme = tokens();
    const { lineups } = this.store;
    const { marks, dots } = this.rows();
    const [shown, sample] = [spread(marks, MOST_MARKS), spread(dots, MOST_DOTS)];
    const of = (kind) => shown.filter((row) => lineups.kind[row] === kind);
    const size = shown.length > 1500 ? 3 : 4.5;
    const traces = [
      this.trace(sample, { name: "Others", symbol: "circle", size: 1.8, colour: theme["context-mark"], opacity: 0.35 }),
      this.trace(of(UNSURE), { name: "Over, weak or unsure", symbol: "diamond-open", size, colour: theme["unsure-mark"], opacity: 0.9 }),
      this.trace(of(STRONG), { name: "Over the line and strong", symbol: "diamond", size, colour: theme.over, opacity: 0.95 }),
    ];
    if (!lineups.hasLine) {
      traces.push(this.trace(of(BEST), { name: "Best trade-offs", symbol: "circle", size, colour: theme.accent, opacity: 0.95 }));
    }
    if (this.store.picked >= 0) {
      traces.push(this.trace([this.store.picked], { name: "Open", symbol: "circle-open", size: 9, colour: theme.ink, opacity: 1 }));
    }
    this.note.textContent = `Drawn: ${whole(shown.length)} of ${plural(marks.length, "matching lineup")} ${lineups.hasLine ? "over the line" : "at the edge"}, and a sample of ${whole(sample.length)} of the ${whole(dots.length)} others.`;
    await Plotly.react(this.plot, traces, this.layout(theme), { displayModeBar: false, responsive: true, scrollZoom: false });
    if (!this.made) this.listen();
    this.made = true;
  }

  layout(theme) {
    const axis = (j) => ({
      range: this.room(j),
      title: { text: axisTitle(this.store.lineups.objectives[j], false), font: { size: 12 } }, color: theme.muted,
      gridcolor: theme.grid, linecolor: theme["control-edge"], zeroline: false, showbackground: false, tickfont: { size: 11 }, nticks: 5,
    });
    const [x, y, z] = this.axes;
    return {
      margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", showlegend: false, uirevision: "stay",
      font: { family: theme.font, color: theme.ink },
      scene: { xaxis: axis(x), yaxis: axis(y), zaxis: axis(z), camera: { eye: this.eye(), center: { x: 0, y: 0, z: -0.1 } }, aspectmode: "cube", uirevision: "stay" },
    };
  }

  /** A little more than the values take, so that no tick stands in a corner on another axis's. */
  room(j) {
    const [low, high] = this.store.lineups.extent[j];
    const more = ROOM * (high - low || Math.abs(high) || 1);
    return [low - more, high + more];
  }

  eye() {
    const far = this.plot.clientWidth < NARROW ? 1.25 * FAR : FAR;
    return { x: far * Math.cos(this.angle), y: far * Math.sin(this.angle), z: 0.4 * far };
  }

  async turn(step) {
    this.angle += step * TURN;
    const Plotly = await plotly();
    Plotly.relayout(this.plot, { "scene.camera.eye": this.eye() });
  }

  listen() {
    this.plot.on("plotly_click", ({ points: [point] }) => this.store.set({ pick: this.store.lineups.id[point.customdata] }));
    document.addEventListener("equipoise:theme", () => this.draw());
  }
}
