// Paints a hundred thousand marks in a few milliseconds: dots and diamonds are stamped into bytes, not drawn one by one.
// Two canvases lie on each other: the lower one has the dots and the reference lines, the upper one the marks with their
// whiskers and what is selected.
import { faded } from "../charts/theme.js";
import { FAMILIES } from "../marks.js";
import { drawable } from "./dom.js";
import { BEST, KINDS, STRONG, UNDER, UNSURE } from "./lineups.js";
import { coverage, dots, ink, kernel, picture, stamp } from "./glyphs.js";

/** @import { Ends } from "../charts/format.js" */
/** @import { Theme } from "../charts/theme.js" */
/** @import { Lineups } from "./lineups.js" */
/** @import { Store } from "./store.js" */
/** @import { Picture } from "./glyphs.js" */

/** What of the store is drawn. @typedef {Pick<Store, "lineups" | "match" | "state" | "picked">} Drawn */
/** A line across the plot, of objective `j`. @typedef {{ along: "x" | "y", j: number, at: number, dotted: boolean }} Line */
/** A panel as it is drawn: its two canvases, their size in device pixels, its axes with their objectives, values, ranges and
 * titles, and the marks once they are drawn; `strong`: rows whose whiskers are drawn.
 * @typedef {object} Frame
 * @property {HTMLCanvasElement} cloud
 * @property {HTMLCanvasElement} marks
 * @property {boolean} large
 * @property {number} ratio
 * @property {number} width
 * @property {number} height
 * @property {Plotly.Margin} margin
 * @property {Scale} x
 * @property {Scale} y
 * @property {number} xj
 * @property {number} yj
 * @property {Float32Array} xs
 * @property {Float32Array} ys
 * @property {Ends} xr
 * @property {Ends} yr
 * @property {{ x: string[], y: string[] }} titles
 * @property {Line[]} lines
 * @property {Uint32Array} [strong]
 * @property {ImageData} [stamped] */

export const PAD = 14; // px around the plot, so that marks and rings at its edge stay whole
/** Diameters of marks, in px. @typedef {{ dot: number, unsure: number, strong: number, ring: number }} Sizes */

/** @type {Record<"large" | "small", Sizes>} */
const SIZES = {
  large: { dot: 3.6, unsure: 7.5, strong: 9, ring: 12 },
  small: { dot: 2.6, unsure: 5.5, strong: 6.5, ring: 9 },
};
const DOT_OPACITY = 0.42;
const MATCH_OPACITY = 0.85;
const FULL_SIZE_MARKS = 350;
const MOST_WHISKERS = 300;
const DOT_INSIDE = 0.34; // of the diameter of the mark around it
const DIAMOND = "M8 1.2 14.8 8 8 14.8 1.2 8Z";
const DISC = "M8 1.2a6.8 6.8 0 1 1 0 13.6A6.8 6.8 0 0 1 8 1.2Z";
const RING = "M8 3.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6Z";

/** Where values land: `place` in device pixels of the canvas. */
export class Scale {
  /** @param {Ends} range @param {number} pixels @param {number} ratio @param {boolean} flip */
  constructor([from, to], pixels, ratio, flip) {
    this.from = from;
    this.to = to;
    this.pixels = pixels;
    this.ratio = ratio;
    this.step = ((flip ? -1 : 1) * pixels * ratio) / (to - from || 1);
    this.origin = (PAD + (flip ? pixels : 0)) * ratio - from * this.step;
  }

  /** @param {number} value */
  place(value) {
    return this.origin + value * this.step;
  }

  /** @param {number} cssPixel */
  value(cssPixel) {
    return (cssPixel * this.ratio - this.origin) / this.step;
  }
}

/** Which rows are dots behind, dots that match, and marks; `marks` as row numbers.
 * @param {Pick<Store, "match"> & { lineups: Pick<Lineups, "kind" | "count"> }} rows */
export function split({ lineups: { kind, count }, match }) {
  const [behind, under] = [new Uint8Array(count), new Uint8Array(count)];
  const marks = new Uint32Array(count);
  let [found, any] = [0, false];
  for (let i = 0; i < count; i += 1) {
    if (match[i] === 0) behind[i] = 1;
    else if (kind[i] === UNDER) {
      under[i] = 1;
      any = true;
    } else {
      marks[found] = i;
      found += 1;
    }
  }
  return { behind, under: any ? under : null, marks: marks.subarray(0, found) };
}

// ---- marks ----

/** A function from row to picture: the verdict's mark, or the family's shape and colour.
 * @param {Drawn} store
 * @param {Theme} theme
 * @param {Sizes} sizes
 * @param {number} factor
 * @param {number} ratio
 * @param {number} crowd */
function pictures(store, theme, sizes, factor, ratio, crowd) {
  /** @type {Map<number, Picture>} */
  const cache = new Map();
  const byFamily = store.state.colour === "family";
  const { kind, family } = store.lineups;
  /** @type {Record<number, string>} */
  const colours = { [UNSURE]: theme["unsure-mark"], [STRONG]: theme.over, [BEST]: theme.accent };
  /** @param {number} what @param {number} number */
  const make = (what, number) => {
    const solid = what !== UNSURE;
    const size = Math.max(solid ? 4 : 4.4, (solid ? sizes.strong : sizes.unsure) * factor);
    const path = number >= 0 ? (FAMILIES[number - 1] ?? RING) : what === BEST ? DISC : DIAMOND;
    const own = number < 0 ? colours[what] : (theme.family[number - 1] ?? theme.muted);
    if (solid && number !== 0) return picture(path, size, ratio, { fill: own, stroke: theme.surface, line: factor < 0.6 ? 0.8 : 1.6 });
    return picture(path, size, ratio, { stroke: own, line: 0.8 + 0.7 * factor, opacity: crowd });
  };
  return (/** @type {number} */ row) => {
    const number = byFamily ? family[row] : -1;
    const key = number * 4 + kind[row];
    let found = cache.get(key);
    if (!found) cache.set(key, (found = make(kind[row], number)));
    return found;
  };
}

// ---- lines ----

/** @param {CanvasRenderingContext2D} c @param {Frame} frame @param {Theme} theme */
function reference(c, { x, y, ratio, lines }, theme) {
  for (const { along, at, dotted } of lines) {
    const place = Math.round((along === "x" ? x : y).place(at)) + 0.5;
    const [near, far] = [PAD * ratio, (PAD + (along === "x" ? y : x).pixels) * ratio];
    c.strokeStyle = theme.ink;
    c.lineWidth = (dotted ? 1.5 : 1.4) * ratio;
    c.setLineDash((dotted ? [1.5, 3] : [5, 4]).map((d) => d * ratio));
    c.beginPath();
    const [across, down] = along === "x" ? [place, near] : [near, place];
    c.moveTo(across, down);
    c.lineTo(along === "x" ? across : far, along === "x" ? far : down);
    c.stroke();
  }
  c.setLineDash([]);
}

/** The ranges of a row, with caps of a length, and left out as far as `gap` around its mark.
 * @param {CanvasRenderingContext2D} c
 * @param {Frame} frame
 * @param {Drawn} store
 * @param {number} row
 * @param {{ cap?: number, gap?: number }} how */
function whisker(c, { x, y, xs, ys, xj, yj }, store, row, { cap = 0, gap = 0 }) {
  const [px, py] = [x.place(xs[row]), y.place(ys[row])];
  for (const [j, scale, across] of /** @type {const} */ ([[xj, x, true], [yj, y, false]])) {
    const range = store.lineups.range(row, j);
    if (!range) continue;
    const [from, to] = range.map((value) => scale.place(value)).sort((a, b) => a - b);
    const middle = across ? px : py;
    /** Draw a line, along the range or across its end. @param {number} a @param {number} b @param {number} half */
    const line = (a, b, half) => {
      c.moveTo(across ? a : px - half, across ? py - half : a);
      c.lineTo(across ? b : px + half, across ? py + half : b);
    };
    if (from < middle - gap) line(from, middle - gap, 0);
    if (to > middle + gap) line(middle + gap, to, 0);
    for (const end of cap ? [from, to] : []) line(end, end, cap);
  }
}

/** @param {HTMLCanvasElement} canvas @param {Pick<Frame, "width" | "height" | "ratio">} size */
function clear(canvas, { width, height, ratio }) {
  const c = drawable(canvas.getContext("2d"));
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  c.reset();
  c.beginPath();
  c.rect((PAD - 6) * ratio, (PAD - 6) * ratio, width - 2 * (PAD - 6) * ratio, height - 2 * (PAD - 6) * ratio);
  return c;
}

// ---- frames ----

/** Everything that filters decide.
 * @param {Frame} frame @param {Drawn} store @param {Theme} theme */
export function paint(frame, store, theme) {
  const { width, height, ratio, large } = frame;
  const c = clear(frame.cloud, frame);
  if (!store.lineups.count) {
    clear(frame.marks, frame);
    return reference(c, frame, theme);
  }
  const { behind, under, marks } = split(store);
  const sizes = large ? SIZES.large : SIZES.small;
  const image = c.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  ink(pixels, dots(frame, behind, kernel(sizes.dot * ratio, DOT_OPACITY)), theme["context-mark"]);
  if (under) ink(pixels, dots(frame, under, kernel(sizes.dot * ratio, MATCH_OPACITY)), theme.muted);
  c.putImageData(image, 0, 0);
  c.clip();
  reference(c, frame, theme);
  frame.stamped = stamped(frame, store, theme, sizes, marks);
  const strong = marks.filter((row) => store.lineups.kind[row] === STRONG);
  frame.strong = large && strong.length <= MOST_WHISKERS ? strong : undefined;
  return select(frame, store, theme);
}

/** How large each of so many marks is: 1, or less in a crowd.
 * @param {number} marks */
const sizeAmong = (marks) => Math.min(1, Math.max(0.42, (FULL_SIZE_MARKS / marks) ** 0.27));

/** The marks as an image; kept, because a selection changes nothing of it.
 * @param {Frame} frame @param {Drawn} store @param {Theme} theme @param {Sizes} sizes @param {Uint32Array} marks */
function stamped(frame, store, theme, sizes, marks) {
  const { width, height, ratio, x, y, xs, ys } = frame;
  const { kind } = store.lineups;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const strongest = marks.filter((row) => kind[row] !== UNSURE).length;
  const factor = sizeAmong(marks.length);
  const crowd = Math.min(1, Math.max(0.4, (2 * FULL_SIZE_MARKS / marks.length) ** 0.25));
  const draw = pictures(store, theme, sizes, factor, ratio, crowd);
  const drawStrong = pictures(store, theme, sizes, sizeAmong(strongest), ratio, crowd); // as few as they are, however many stand around
  const byFamily = store.state.colour === "family";
  const unsure = byFamily ? null : marks.find((row) => kind[row] === UNSURE);
  if (unsure !== undefined && unsure !== null) {
    const wanted = new Uint8Array(kind.length);
    for (const row of marks) if (kind[row] === UNSURE) wanted[row] = 1;
    ink(pixels, dots(frame, wanted, coverage(draw(unsure))), theme["unsure-mark"]); // one colour: many times faster
  }
  for (const strong of byFamily ? [false, true] : [true]) {
    for (const row of marks) {
      if ((kind[row] !== UNSURE) === strong) stamp(pixels, width, height, (strong ? drawStrong : draw)(row), x.place(xs[row]), y.place(ys[row]));
    }
  }
  confirmed(store, sizes, theme, ratio, (row, drawn) => stamp(pixels, width, height, drawn, x.place(xs[row]), y.place(ys[row])));
  return image;
}

/** What fresh battles confirm stands on top, at full size whatever the crowd, with a dot inside; in the open ring of those
 * without a family the dot has the ring's colour.
 * @param {Drawn} store
 * @param {Sizes} sizes
 * @param {Theme} theme
 * @param {number} ratio
 * @param {(row: number, drawn: Picture) => void} put */
function confirmed(store, sizes, theme, ratio, put) {
  const rows = store.lineups.confirmed.filter((row) => store.match[row]);
  if (!rows.length) return;
  const draw = pictures(store, theme, sizes, 1, ratio, 1);
  const dotOf = (/** @type {string} */ colour) => picture(DISC, sizes.strong * DOT_INSIDE, ratio, { fill: colour, stroke: colour, line: 0.1 });
  const [light, dark] = [dotOf(theme.surface), dotOf(theme.muted)];
  const open = (/** @type {number} */ row) => store.state.colour === "family" && store.lineups.family[row] === 0;
  for (const row of rows) for (const drawn of [draw(row), open(row) ? dark : light]) put(row, drawn);
}

/** @param {CanvasRenderingContext2D} c
 * @param {Frame} frame
 * @param {number} row
 * @param {number} radius
 * @param {string} colour
 * @param {number} line */
function ring(c, { x, y, xs, ys, ratio }, row, radius, colour, line) {
  c.beginPath();
  c.strokeStyle = colour;
  c.lineWidth = line * ratio;
  c.arc(x.place(xs[row]), y.place(ys[row]), radius * ratio, 0, 2 * Math.PI);
  c.stroke();
}

/** The mark of one row at full size, as a path: the one that is open stands on its own whiskers.
 * @param {CanvasRenderingContext2D} c
 * @param {Frame} frame
 * @param {Drawn} store
 * @param {Theme} theme
 * @param {number} row */
function alone(c, { x, y, xs, ys, ratio, large }, store, theme, row) {
  const kind = KINDS[store.lineups.kind[row]];
  const { strong, unsure } = large ? SIZES.large : SIZES.small;
  const size = kind === "strong" ? strong : kind === "unsure" ? unsure : 6;
  const unit = (size * ratio) / 13.6;
  c.save();
  c.translate(x.place(xs[row]) - 8 * unit, y.place(ys[row]) - 8 * unit);
  c.scale(unit, unit);
  const shape = new Path2D(kind === "under" || kind === "fair" ? DISC : DIAMOND);
  c.lineWidth = (1.6 * ratio) / unit;
  c.strokeStyle = kind === "unsure" ? theme["unsure-mark"] : theme.surface;
  c.fillStyle = kind === "strong" ? theme.over : kind === "unsure" ? theme.surface : kind === "under" ? theme.muted : theme.accent;
  c.stroke(shape);
  c.fill(shape);
  c.restore();
}

/** What is selected: small rings around rows ticked by hand, a large one with its ranges around the open lineup.
 * @param {Frame} frame @param {Drawn} store @param {Theme} theme */
export function select(frame, store, theme) {
  const { lineups, state } = store;
  const c = clear(frame.marks, frame);
  if (frame.stamped) c.putImageData(frame.stamped, 0, 0);
  if (frame.strong?.length) {
    c.beginPath();
    c.strokeStyle = faded(theme.over, 0.35);
    c.lineWidth = frame.ratio;
    for (const row of frame.strong) whisker(c, frame, store, row, { gap: 0.6 * SIZES.large.strong * frame.ratio });
    c.stroke();
  }
  const { ring: radius } = frame.large ? SIZES.large : SIZES.small;
  for (const id of state.rows) if (lineups.row(id) >= 0) ring(c, frame, lineups.row(id), radius * 0.62, theme.accent, 1.6);
  const row = store.picked;
  if (row < 0) return;
  c.beginPath();
  c.strokeStyle = theme.ink;
  c.lineWidth = 1.8 * frame.ratio;
  whisker(c, frame, store, row, { cap: 4 * frame.ratio });
  c.stroke();
  ring(c, frame, row, radius, theme.ink, 2);
  alone(c, frame, store, theme, row);
}
