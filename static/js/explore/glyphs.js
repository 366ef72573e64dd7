// Glyphs: dots and marks laid into bytes, one small picture at each place. Many times faster than drawing each one.
import { rgb } from "../charts/theme.js";
import { drawable } from "./dom.js";
/** @import { Frame } from "./cloud.js" */

/** A square of coverage bytes, `width` px wide. @typedef {{ bytes: Uint8Array, width: number }} Kernel */
/** A mark as pixels, and where those that are inked are.
 * @typedef {{ side: number, data: Uint32Array, across: Uint32Array, down: Uint32Array }} Picture */

/** A round kernel of coverage bytes for dots of `size` device pixels.
 * @param {number} size @param {number} opacity */
export function kernel(size, opacity) {
  const width = 2 * Math.ceil((size - 1) / 2) + 1;
  const bytes = new Uint8Array(width * width);
  const parts = 5;
  for (let at = 0; at < bytes.length; at += 1) {
    let inside = 0;
    for (let k = 0; k < parts * parts; k += 1) {
      const dx = (at % width) + ((k % parts) + 0.5) / parts - width / 2;
      const dy = Math.floor(at / width) + (Math.floor(k / parts) + 0.5) / parts - width / 2;
      inside += dx * dx + dy * dy <= (size / 2) ** 2 ? 1 : 0;
    }
    bytes[at] = Math.round((255 * opacity * inside) / parts ** 2);
  }
  return { bytes, width };
}

/** Dots of the rows that `wanted` has a 1 for, as one coverage byte a pixel.
 * @param {Frame} frame @param {Uint8Array} wanted @param {Kernel} kernel */
export function dots({ width, height, x, y, xs, ys }, wanted, { bytes, width: side }) {
  const cover = new Uint8Array(width * height);
  const reach = side >> 1;
  const [xo, xk, yo, yk] = [x.origin - reach, x.step, y.origin - reach, y.step];
  const [right, bottom] = [width - side, height - side];
  for (let i = 0; i < wanted.length; i += 1) {
    if (wanted[i] === 0) continue;
    const left = (xo + xs[i] * xk) | 0;
    const top = (yo + ys[i] * yk) | 0;
    if (left < 0 || top < 0 || left > right || top > bottom) continue;
    for (let row = 0, k = 0, start = top * width + left; row < side; row += 1, start += width) {
      for (let at = start; k < (row + 1) * side; at += 1, k += 1) {
        const over = bytes[k];
        if (over) cover[at] += ((255 - cover[at]) * over + 127) >> 8;
      }
    }
  }
  return cover;
}

/** @param {Uint32Array} pixels @param {Uint8Array} cover @param {string} hex */
export function ink(pixels, cover, hex) {
  const [r, g, b] = rgb(hex);
  const colour = (b << 16) | (g << 8) | r;
  for (let i = 0; i < cover.length; i += 1) if (cover[i]) pixels[i] = (cover[i] << 24) | colour;
}

/** One mark drawn once as pixels [{side, data}], to be stamped many times.
 * @param {string} path
 * @param {number} size
 * @param {number} ratio
 * @param {{ fill?: string, stroke: string, line: number, opacity?: number }} how
 * @returns {Picture} */
export function picture(path, size, ratio, { fill, stroke, line, opacity = 1 }) {
  const side = Math.ceil((size + 4) * ratio) | 1;
  const c = drawable(new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true }));
  const unit = (size * ratio) / 13.6; // the drawings are 13.6 wide in a box of 16
  c.globalAlpha = opacity;
  c.translate(side / 2 - 8 * unit, side / 2 - 8 * unit);
  c.scale(unit, unit);
  const shape = new Path2D(path);
  c.lineWidth = (line * ratio) / unit;
  c.lineJoin = "round";
  c.strokeStyle = stroke;
  c.stroke(shape);
  if (fill) {
    c.fillStyle = fill;
    c.fill(shape);
  }
  const data = new Uint32Array(c.getImageData(0, 0, side, side).data.buffer);
  const inked = Uint32Array.from(data.keys()).filter((at) => data[at] >>> 24);
  return { side, data, across: inked.map((at) => at % side), down: inked.map((at) => Math.floor(at / side)) };
}

/** A picture of one colour as a kernel for ``dots``.
 * @param {Picture} picture @returns {Kernel} */
export const coverage = ({ side, data }) => ({ bytes: Uint8Array.from(data, (pixel) => pixel >>> 24), width: side });

/** Lay `picture` over the pixels, its middle at a place. Bytes are red, green, blue, alpha, not multiplied.
 * @param {Uint32Array} pixels
 * @param {number} width
 * @param {number} height
 * @param {Picture} picture
 * @param {number} px
 * @param {number} py */
export function stamp(pixels, width, height, { side, data, across, down }, px, py) {
  const left = Math.round(px - side / 2);
  const top = Math.round(py - side / 2);
  if (left < 0 || top < 0 || left + side > width || top + side > height) return;
  for (let k = 0; k < across.length; k += 1) {
    const at = (top + down[k]) * width + left + across[k];
    const over = data[down[k] * side + across[k]];
    const below = pixels[at];
    pixels[at] = over >>> 24 === 255 || below >>> 24 === 0 ? over : mix(over, over >>> 24, below);
  }
}

/** @param {number} over @param {number} alpha @param {number} below */
function mix(over, alpha, below) {
  const rest = ((below >>> 24) * (255 - alpha)) / 255;
  const sum = alpha + rest;
  const part = (/** @type {number} */ shift) => Math.round((((over >>> shift) & 255) * alpha + ((below >>> shift) & 255) * rest) / sum) << shift;
  return (Math.round(sum) << 24) | part(16) | part(8) | part(0);
}
