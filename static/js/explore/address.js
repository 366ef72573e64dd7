// The state of the explorer as words of its address, so that a view can be shared, kept and taken away.
// The server reads the same words (webapp/studies/explore_filter.py): keep the two alike.
import { NO_FAMILY, VERDICTS } from "./lineups.js";

const VIEWS = ["pairs", "3d", "lines"];
/** @import { Lineups } from "./lineups.js" */
/** @import { State } from "./store.js" */

const ENDS = /** @type {const} */ (["min", "max"]);

/** The state that `address` (URLSearchParams) asks for; what it does not name, or names wrongly, is as in `usual`.
 * @param {URLSearchParams} address
 * @param {Pick<Lineups, "objectives" | "meta">} about
 * @param {State} usual
 * @returns {State} */
export function read(address, { objectives, meta }, usual) {
  const state = { ...usual };
  const list = (/** @type {string} */ name) => (address.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (/** @type {string} */ name) => list(name).map(Number).filter(Number.isInteger);
  const number = (/** @type {string} */ name) => parseFloat(address.get(name) ?? "");
  const names = objectives.map((o) => o.name);
  for (const end of ENDS) {
    const found = names.map((name) => /** @type {const} */ ([name, number(`${end}-${name}`)]));
    state[end] = Object.fromEntries(found.filter(([, value]) => Number.isFinite(value)));
  }
  if (address.has("show")) state.show = new Set(list("show").map((word) => VERDICTS.indexOf(word)).filter((v) => v >= 0));
  const lines = objectives.map((o) => /** @type {const} */ ([o, number(`line-${o.name}`)]));
  state.line = Object.fromEntries(lines.filter(([o, at]) => o.threshold !== null && Number.isFinite(at)).map(([o, at]) => [o.name, at]));
  state.family = new Set(numbers("family").filter((f) => f >= NO_FAMILY && f <= meta.families.length));
  const known = new Set(meta.pieces.map((p) => p.id));
  state.piece = new Set(address.getAll("piece").filter((id) => known.has(id)));
  state.best = address.get("best") === "1";
  state.listed = address.get("listed") === "1";
  const sort = address.get("sort") ?? "";
  if (["how", "name", ...names].includes(sort.replace(/^-/, ""))) state.sort = sort;
  const view = address.get("view") ?? "";
  if (VIEWS.includes(view)) state.view = view;
  const pick = parseInt(address.get("pick") ?? "", 10);
  if (Number.isInteger(pick)) state.pick = pick;
  state.rows = new Set(numbers("rows"));
  const main = list("main").map((name) => names.indexOf(name));
  if (main.length === 2 && main[0] !== main[1] && main.every((j) => j >= 0)) state.main = [main[0], main[1]];
  if (address.get("colour") === "family") state.colour = "family";
  state.fit = address.get("fit") === "1";
  return state;
}

/** `state` in words; only those that differ from `usual`, and with `what` "rows" only those that choose lineups.
 * @param {State} state @param {State} usual @param {Pick<Lineups, "objectives">} about @param {string} what */
export function write(state, usual, { objectives }, what) {
  const words = new URLSearchParams();
  for (const { name } of objectives) {
    for (const end of ENDS) if (state[end][name] !== undefined) words.set(`${end}-${name}`, String(state[end][name]));
  }
  for (const [name, at] of Object.entries(state.line)) words.set(`line-${name}`, String(at));
  const sameShow = state.show.size === usual.show.size && [...state.show].every((v) => usual.show.has(v));
  if (!sameShow) words.set("show", [...state.show].sort().map((v) => VERDICTS[v]).join(","));
  if (state.family.size) words.set("family", [...state.family].sort().join(","));
  for (const id of state.piece) words.append("piece", id);
  if (state.best) words.set("best", "1");
  if (state.listed) words.set("listed", "1");
  if (state.rows.size) words.set("rows", [...state.rows].join(","));
  if (state.sort !== usual.sort) words.set("sort", state.sort);
  if (what === "rows") return words;
  if (state.view !== "pairs") words.set("view", state.view);
  if (state.pick !== null) words.set("pick", String(state.pick));
  if (state.main) words.set("main", state.main.map((j) => objectives[j].name).join(","));
  if (state.colour !== "verdict") words.set("colour", state.colour);
  if (state.fit) words.set("fit", "1");
  return words;
}
