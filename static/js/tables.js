// Tables that a page builds itself: columns of numbers stand at the right, as in those of the server.
import { make } from "./elements.js";

const NUMBER = /^[−-]?[\d,.]+(\D|$)/;
const NONE = "not measured";
const UNKNOWN = new Set(["–", "not known", "exact"]);

/** Which columns hold numbers, or nothing.
 * @param {string[][]} rows */
const numeric = (rows) => (rows[0] ?? []).map((_, k) => rows.some((row) => NUMBER.test(row[k])) && rows.every((row) => NUMBER.test(row[k]) || UNKNOWN.has(row[k])));

/** What stands in a cell; a dash says that nothing was measured, to who points at it or listens.
 * @param {string} text */
const shown = (text) => (text === "–" ? make("span", { class: "muted", title: NONE }, make("span", { "aria-hidden": "true" }, text), make("span", { class: "visually-hidden" }, NONE)) : text);

/** @param {boolean} number */
const css = (number) => ({ class: number ? "number" : null });

/** Put heads and rows into a table; `named`: the first cell of a row is its head.
 * @param {HTMLElement} head @param {HTMLElement} body @param {string[]} heads @param {string[][]} rows @param {boolean} [named] */
export function fillTable(head, body, heads, rows, named = false) {
  const numbers = numeric(rows);
  head.replaceChildren(make("tr", {}, ...heads.map((text, k) => make("th", { scope: "col", ...css(numbers[k]) }, text))));
  body.replaceChildren(...rows.map((row) => make("tr", {}, ...row.map((text, k) => (named && !k ? make("th", { scope: "row" }, text) : make("td", css(numbers[k]), shown(text)))))));
}
