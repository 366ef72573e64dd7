// The state of the explorer as words of its address, so that a view can be shared, kept and taken away.
// The server reads the same words (webapp/studies/explore_filter.py): keep the two alike.
import { NO_FAMILY, VERDICTS } from "./lineups.js";

const VIEWS = ["pairs", "3d", "lines"];
const ENDS = ["min", "max"];

/** The state that `address` (URLSearchParams) asks for; what it does not name, or names wrongly, is as in `usual`. */
export function read(address, { objectives, meta }, usual) {
  const state = { ...usual };
  const list = (name) => (address.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (name) => list(name).map(Number).filter(Number.isInteger);
  const names = objectives.map((o) => o.name);
  for (const end of ENDS) {
    const found = names.map((name) => [name, parseFloat(address.get(`${end}-${name}`))]);
    state[end] = Object.fromEntries(found.filter(([, value]) => Number.isFinite(value)));
  }
  if (address.has("show")) state.show = new Set(list("show").map((word) => VERDICTS.indexOf(word)).filter((v) => v >= 0));
  const lines = objectives.map((o) => [o, parseFloat(address.get(`line-${o.name}`))]);
  state.line = Object.fromEntries(lines.filter(([o, at]) => o.threshold !== null && Number.isFinite(at)).map(([o, at]) => [o.name, at]));
  state.family = new Set(numbers("family").filter((f) => f >= NO_FAMILY && f <= meta.families.length));
  const known = new Set(meta.pieces.map((p) => p.id));
  state.piece = new Set(address.getAll("piece").filter((id) => known.has(id)));
  state.best = address.get("best") === "1";
  state.listed = address.get("listed") === "1";
  const sort = address.get("sort") ?? "";
  if (["how", "name", ...names].includes(sort.replace(/^-/, ""))) state.sort = sort;
  if (VIEWS.includes(address.get("view"))) state.view = address.get("view");
  const pick = parseInt(address.get("pick"), 10);
  if (Number.isInteger(pick)) state.pick = pick;
  state.rows = new Set(numbers("rows"));
  const main = list("main").map((name) => names.indexOf(name));
  if (main.length === 2 && main[0] !== main[1] && main.every((j) => j >= 0)) state.main = main;
  if (address.get("colour") === "family") state.colour = "family";
  state.fit = address.get("fit") === "1";
  return state;
}

/** `state` in words; only those that differ from `usual`, and with `what` "rows" only those that choose lineups. */
export function write(state, usual, { objectives }, what) {
  const words = new URLSearchParams();
  for (const { name } of objectives) {
    for (const end of ENDS) if (state[end][name] !== undefined) words.set(`${end}-${name}`, state[end][name]);
  }
  for (const [name, at] of Object.entries(state.line)) words.set(`line-${name}`, at);
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
  if (state.pick !== null) words.set("pick", state.pick);
  if (state.main) words.set("main", state.main.map((j) => objectives[j].name).join(","));
  if (state.colour !== "verdict") words.set("colour", state.colour);
  if (state.fit) words.set("fit", "1");
  return words;
}
