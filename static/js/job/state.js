// What the page of a job knows: its state, as the server first told it and events changed it, and the numbers of its
// rounds. One object each; every other module of the page reads and writes these.
import { embedded, find, findOptional } from "../elements.js";
/** @import { Kind } from "../elements.js" */
/** @import { JobNews } from "../events.js" */
/** @import { Marks } from "./checked.js" */
/** @import { Axis, Label } from "./parts.js" */

/** Totals of a job so far, by name.
 * @typedef {Record<string, number> & { seconds?: number, battles?: number, cached?: number, evaluations?: number,
 *   steps?: number, planned?: number }} Counters `planned`: battles in all, once it is known what is played again at the end */
/** @typedef {Record<string, number>} Metrics */

/** What events change. Times are in seconds.
 * @typedef {object} State
 * @property {number} job
 * @property {string} kind
 * @property {number} sequence
 * @property {string} status
 * @property {string} command
 * @property {string} message
 * @property {number} attempt
 * @property {number} tick
 * @property {number} ticks
 * @property {Counters} counters
 * @property {Metrics} metrics
 * @property {number | null} started
 * @property {number | null} ended
 * @property {number | null} took */

/** The furthest lineup that fresh battles confirm, and its range.
 * @typedef {[value: number, low: number | null, high: number | null]} Furthest */
/** Lineups that are over the line and strong: by fresh battles, by the search, and how many of those events had told;
 * `played`: lineups that were played again; `strong`: those of the search; `random_words`: how many of
 * the random ones are so, or why that is not known; `meant_words`: how many are meant to be so.
 * @typedef {{ confirmed: number | null, by_search: number, told: number, played: number, strong: number,
 *   random_words: string, meant_words: string, furthest: Furthest | null }} Found */

/** What the server told when the page was made; each kind of job has some of it.
 * @typedef {object} Page
 * @property {State} state
 * @property {Axis} x
 * @property {Axis} y
 * @property {Record<string, string>} links
 * @property {string} project
 * @property {boolean} unfinished its settings are not complete
 * @property {boolean} moving it has told of progress since it started
 * @property {boolean} strength
 * @property {string} [false_alarms] the sentence on mistakes among what is confirmed
 * @property {boolean} fresh
 * @property {boolean} [undrawn] something is on the edge by a number that is not drawn
 * @property {boolean} early it may end early
 * @property {boolean} [in_step]
 * @property {boolean} [fresh_map]
 * @property {number | null} [fresh_coverage]
 * @property {{ counters: string[], metrics: string[] }} [columns]
 * @property {number} population
 * @property {number} battles of all rounds
 * @property {number} [edge] battles that play the edge again at the end, as a rule
 * @property {number} steps
 * @property {number} minutes
 * @property {number} episodes
 * @property {string[]} policies the agents, where several learn
 * @property {string[]} teams those of them that learn as a team; "" where one learns alone
 * @property {Found} found
 * @property {boolean} course
 * @property {string} other_game
 * @property {Record<string, string>} words
 * @property {Marks} checked
 * @property {(Label & { name: string })[]} goals
 * @property {Axis[]} axes */

/** The numbers of each round, a column each.
 * @typedef {Record<string, (number | null)[]> & { tick: number[], seconds: number[], battles: number[], cached: number[],
 *   steps: number[] }} Rounds */

/** An event of a job as the server tells it.
 * @typedef {JobNews & Partial<State> & { kind: string, at: number, words: string, serious?: boolean, waits?: boolean,
 *   note?: boolean, found?: Found, planned?: number, fresh?: boolean, fresh_map?: boolean, fresh_coverage?: number | null }} JobEvent */

/** @type {Page} */
export const page = embedded("job-page");
export const { state, x, y, links } = page;
if (x) x.strength = page.strength && x.column >= 0;

const SEARCHED = { counters: ["seconds", "battles", "cached", "evaluations"], metrics: ["over", "strong", "worst", "hypervolume"] };
const { counters: COUNTERS, metrics: METRICS } = page.columns ?? SEARCHED;
const names = ["tick", ...COUNTERS, ...METRICS];
export const rounds = /** @type {Rounds} */ (/** @type {unknown} */ (Object.fromEntries(names.map((name) => [name, []]))));

/** The part of the page with this name.
 * @template {Element} [E=HTMLElement]
 * @param {string} name @param {Kind<E>} [kind] @returns {E} */
export const at = (name, kind) => find(document, `[data-${name}]`, kind);
/** The same of a part that not all pages have.
 * @param {string} name */
export const atIfAny = (name) => findOptional(document, `[data-${name}]`);
const ENDED = new Set(["stopped", "finished", "failed"]);
export const ended = () => ENDED.has(state.status);
export const search = Boolean(page.course);

/** Lineups played of the round under way, and the share of it that they are: [0, 0] where that is not known. */
export function underWay() {
  const played = (state.counters.evaluations ?? 0) - state.tick * page.population;
  if (state.status !== "running" || !page.population || played <= 0 || state.tick >= state.ticks) return [0, 0];
  return [Math.min(played, page.population), Math.min(1, played / page.population)];
}

/** Battles, those answered from memory and seconds: of the whole rounds, for the part of a round that is under way is
 * played again when the job goes on from a pause; of everything while it is put aside, for it may never go on, and where
 * no round is complete yet, or none will be. */
export function totals() {
  const last = rounds.tick.length - 1;
  const { battles = 0, cached = 0, seconds = 0 } = state.counters;
  if (ended() || state.status === "paused" || last < 0 || rounds.battles[last] === null || replaying()) return { battles, cached, seconds };
  return { battles: rounds.battles[last], cached: rounds.cached[last], seconds: rounds.seconds[last] };
}

/** Whether all rounds are over, and what they found is played again. */
export const replaying = () => Boolean(state.counters.planned) || state.tick >= state.ticks;

/** Battles in all, those that play the edge again at the end included: as planned until that is known. */
export const planned = () => state.counters.planned || page.battles + (page.battles ? page.edge ?? 0 : 0);

/** How much of the job is done, in [0, 1], by its work or its clock; the round under way, or that a stop cut off, counts in part. */
export function done() {
  if (state.status === "finished") return 1;
  const { steps = 0, seconds = 0, battles = 0 } = state.counters;
  const rounds = state.ticks ? (state.tick + underWay()[1]) / state.ticks : 0;
  const byBattles = (replaying() || ended()) && page.battles ? Math.min(0.99, battles / planned()) : page.battles ? (rounds * page.battles) / planned() : rounds;
  const played = state.counters.planned ? battles / planned() : byBattles;
  return Math.min(1, Math.max(page.steps ? steps / page.steps : played, page.minutes ? seconds / (60 * page.minutes) : 0));
}

/** The rounds so far, from the server; false when it did not answer. */
export async function readRounds() {
  const answer = await fetch(links.rounds, { cache: "no-store" }).catch(() => null);
  if (answer?.ok) Object.assign(rounds, await answer.json());
  return Boolean(answer?.ok);
}

/** @param {JobEvent} event @param {number} tick */
function addRound(event, tick) {
  if (tick <= (rounds.tick.at(-1) ?? -1)) return;
  /** @type {Record<string, number | undefined>} */
  const row = { ...event.metrics, ...Object.fromEntries(COUNTERS.map((name) => [name, event.counters?.[name]])), tick };
  for (const name of Object.keys(row)) rounds[name] ??= rounds.tick.map(() => null);
  for (const [name, column] of Object.entries(rounds)) column.push(row[name] ?? null);
}

const CARRIED = /** @type {const} */ (["counters", "metrics", "status", "command", "attempt", "message"]);
/** Bring the state on by the next event; the sentence that is worth a line beside the event's own, or nothing.
 * @param {JobEvent} event */
export function apply(event) {
  state.sequence = event.sequence;
  const strongBefore = state.metrics.strong ?? 0;
  for (const name of CARRIED) if (name in event) Object.assign(state, { [name]: event[name] });
  if ("attempt" in event) page.moving = false;
  if (event.kind === "progressed" || event.kind === "logged") page.moving = true;
  if (event.status && event.status !== "running") state.command = "";
  if (event.status === "running") state.started ??= event.at;
  if (event.kind === "started") {
    state.ticks = event.ticks || state.ticks;
    page.battles = event.planned || page.battles;
  }
  if (event.found) page.found = event.found;
  if (event.status) state.took = event.took ?? null;
  if (event.kind === "finished") {
    const { fresh, fresh_map, fresh_coverage } = event;
    Object.assign(page, { fresh, fresh_map, fresh_coverage });
  }
  state.ended = ended() ? (state.ended ?? event.at) : null;
  if (event.kind !== "progressed" || event.tick === undefined) return "";
  state.tick = event.tick;
  addRound(event, event.tick);
  if (!search || strongBefore || !event.metrics?.strong) return "";
  return `First lineup ${page.words.strong.toLowerCase()}, in round ${event.tick.toLocaleString("en-GB")}.`;
}
