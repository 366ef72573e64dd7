// A chart of a job that stands on the page alone, others behind a switch: what it says, its legend, and its table.
/** @import { Theme } from "../charts/theme.js" */

/** Where a chart's data come from, and what is made of them.
 * @template D
 * @typedef {object} Chart
 * @property {() => Promise<D | null>} read
 * @property {(data: D) => boolean} empty
 * @property {(data: D) => string} note
 * @property {(data: D) => Node[]} [legend]
 * @property {(data: D) => string[]} heads
 * @property {(data: D) => string[][]} rows
 * @property {(data: D) => string} [height]
 * @property {(place: HTMLElement, data: D, theme: Theme) => Promise<void>} draw */

/** @typedef {Awaited<ReturnType<ReturnType<typeof telling>>>} ChartText */

/** A function that reads the data, and tells what is shown of them; null where the site is away, or there are none.
 * @template D
 * @param {Chart<D>} chart */
export const telling = ({ read, empty, note, legend, heads, rows, height, draw }) => async () => {
  const data = await read();
  if (data === null || empty(data)) return null;
  return {
    note: note(data),
    legend: legend?.(data) ?? [],
    heads: heads(data),
    rows: rows(data),
    height: height?.(data) ?? "",
    /** @param {HTMLElement} place @param {Theme} theme */
    draw: (place, theme) => draw(place, data, theme),
  };
};

