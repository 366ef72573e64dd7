// The timeline of lessons: which rows are unfolded goes along when a button draws them anew, and the page’s plan is then asked for again.
// Tables of entities offer the players that are there, and write who plays whom into the text above them.
import { closest, find, findAll, findOptional, make } from "./elements.js";

const SET = "#lesson-set";

document.addEventListener(
  "toggle",
  ({ target }) => {
    const set = closest(target, SET);
    if (!set || !closest(target, "[data-lesson]")) return;
    const open = findAll(set, "details[data-lesson][open]").map(({ dataset }) => dataset.lesson ?? "");
    find(set, "input[name=open]", HTMLInputElement).value = open.join(" ");
  },
  true, // it does not bubble
);

document.addEventListener("htmx:afterSettle", ({ target }) => {
  offerPlayers();
  if (target instanceof Element && target.matches(SET)) closest(target, "form")?.dispatchEvent(new Event("change"));
});

/** The names of all players that are filled in. */
function players() {
  const filled = findAll(document, "select[name^=plays]", HTMLSelectElement).filter(({ value }) => value);
  return filled.map(({ name }) => {
    const number = name.slice("plays".length);
    const typed = findOptional(document, `input[name=name${number}]`, HTMLInputElement)?.value.trim();
    return (typed || `player-${number}`).toLowerCase().replace(/\s+/g, "-"); // as in webapp/arena/typed.py
  });
}

/** Every menu of a table has these players, and the one that it shows. */
function offerPlayers() {
  const names = players();
  for (const menu of findAll(document, "select[data-entity]", HTMLSelectElement)) {
    const chosen = menu.value; // as the server wrote it
    const offered = [...new Set(chosen ? [...names, chosen] : names)];
    menu.replaceChildren(make("option", { value: "" }, "Nobody"), ...offered.map((name) => make("option", { value: name }, name)));
    menu.value = chosen;
  }
}

/** @typedef {{ players: string[], together: boolean }} Side */

/** The sides of a match as a table has them.
 * @param {HTMLElement} table @param {string} match @returns {Side[]} */
const sidesOf = (table, match) =>
  findAll(table, "[data-side]").map((side) => ({
    players: findAll(side, `select[data-match="${match}"]`, HTMLSelectElement).map(({ value }) => value),
    together: find(side, `[data-together][data-match="${match}"]`, HTMLInputElement).checked,
  }));

/** @param {Record<string, unknown>} settings */
const inWords = (settings) =>
  Object.entries(settings).map(([name, value]) => `${name} ${typeof value === "boolean" ? (value ? "yes" : "no") : String(value)}`);

/** A match in words; null where each entity has to be named.
 * @param {Side[]} sides @param {Record<string, unknown>} settings */
function words(sides, settings) {
  if (sides.some((side) => side.together || new Set(side.players).size > 1)) return null;
  const own = inWords(settings).join(", ");
  return sides.map((side) => side.players[0]).join(" vs ") + (own && ` (${own})`);
}

/** @param {Side[]} sides @param {Record<string, unknown>} settings */
function list(sides, settings) {
  const who = `[${sides.map((side) => (side.together ? `[${side.players.join(", ")}]` : side.players.join(", "))).join(", ")}]`;
  return Object.keys(settings).length ? `{who: ${who}, settings: ${JSON.stringify(settings)}}` : who;
}

/** Who plays whom as the text has it; null while a match is not complete.
 * @param {HTMLElement} table */
function textOf(table) {
  const heads = findAll(table, "thead [data-match]");
  const matches = heads.map(({ dataset }) => ({ sides: sidesOf(table, dataset.match ?? ""), settings: JSON.parse(dataset.settings ?? "{}") }));
  const begun = matches.filter(({ sides }) => sides.some((side) => side.players.some(Boolean)));
  if (begun.some(({ sides }) => sides.some((side) => !side.players.every(Boolean)))) return null;
  const short = begun.map(({ sides, settings }) => words(sides, settings));
  return short.includes(null) ? `[${begun.map(({ sides, settings }) => list(sides, settings)).join(", ")}]` : short.join(", ");
}

/** The first choice for a side in a new match is for all of it.
 * @param {HTMLSelectElement} menu */
function fillSide(menu) {
  const side = closest(menu, "[data-side]");
  const others = side ? findAll(side, `select[data-match="${menu.dataset.match}"]`, HTMLSelectElement) : [];
  if (others.every((other) => other === menu || !other.value)) for (const other of others) other.value = menu.value;
}

document.addEventListener(
  "change",
  ({ target }) => {
    if (target instanceof Element && target.matches("[name^=plays], [name^=name]")) offerPlayers();
    const table = closest(target, "[data-entities]");
    if (!table) return;
    if (target instanceof HTMLSelectElement) fillSide(target);
    const text = textOf(table);
    if (text === null) return;
    const who = find(document, `[name=who${table.dataset.entities}]`, HTMLInputElement);
    who.value = text;
    const last = findAll(table, "thead [data-match]").at(-1)?.dataset.match;
    if (last === closest(target, "[data-match]")?.dataset.match) who.dispatchEvent(new Event("change", { bubbles: true })); // for another new match
  },
  true, // before the form keeps what it holds
);
offerPlayers();

const game = find(document, "select[name=game]", HTMLSelectElement);
const learner = find(document, "select[name=learner]", HTMLSelectElement);

/** Learners that can play the chosen game; one that cannot gives way to the first that can. */
function offerLearners() {
  for (const option of learner.options) {
    option.hidden = option.disabled = !(option.dataset.games ?? "").split(" ").includes(game.value);
  }
  if (learner.selectedOptions[0]?.disabled) learner.value = [...learner.options].find(({ disabled }) => !disabled)?.value ?? "";
}

game.addEventListener("change", offerLearners);
window.addEventListener("pageshow", offerLearners); // a browser that goes back brings the choice back after the page has loaded
offerLearners();
