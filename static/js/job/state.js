// What the page of a job knows: its state, as the server first told it and events changed it, and the numbers of its
// rounds. One object each; every other module of the page reads and writes these.
export const page = JSON.parse(document.getElementById("job-page").textContent);
export const { state, x, y, links } = page;
if (x) x.strength = page.strength && x.column >= 0;

const SEARCHED = { counters: ["seconds", "battles", "cached", "evaluations"], metrics: ["over", "strong", "worst", "hypervolume"] };
const { counters: COUNTERS, metrics: METRICS } = page.columns ?? SEARCHED;
export const rounds = Object.fromEntries(["tick", ...COUNTERS, ...METRICS].map((name) => [name, []]));

export const at = (name) => document.querySelector(`[data-${name}]`);
const ENDED = new Set(["stopped", "finished", "failed"]);
export const ended = () => ENDED.has(state.status);
export const search = state.kind === "search";

/** Lineups played of the round under way, and the share of it that they are: [0, 0] where that is not known. */
export function underWay() {
  const played = (state.counters.evaluations ?? 0) - state.tick * page.population;
  if (state.status !== "running" || !page.population || played <= 0 || state.tick >= state.ticks) return [0, 0];
  return [Math.min(played, page.population), Math.min(1, played / page.population)];
}

/** Battles, those answered from memory and seconds: of the whole rounds, for the part of a round that is under way is
 * played again when the job is put aside; of everything where no round is complete yet, or none will be. */
export function totals() {
  const last = rounds.tick.length - 1;
  const { battles = 0, cached = 0, seconds = 0 } = state.counters;
  if (ended() || last < 0 || rounds.battles[last] === null || state.tick >= state.ticks) return { battles, cached, seconds };
  return { battles: rounds.battles[last], cached: rounds.cached[last], seconds: rounds.seconds[last] };
}

/** How much of the job is done, in [0, 1], by its work or its clock; the round under way counts in part. */
export function done() {
  if (state.status === "finished") return 1;
  const { steps = 0, seconds = 0 } = state.counters;
  const played = state.ticks ? (state.tick + underWay()[1]) / state.ticks : 0;
  return Math.min(1, Math.max(page.steps ? steps / page.steps : played, page.minutes ? seconds / (60 * page.minutes) : 0));
}

/** The rounds so far, from the server; false when it did not answer. */
export async function readRounds() {
  const answer = await fetch(links.rounds, { cache: "no-store" }).catch(() => null);
  if (answer?.ok) Object.assign(rounds, await answer.json());
  return Boolean(answer?.ok);
}

function addRound(event) {
  if (rounds.tick.length && event.tick <= rounds.tick.at(-1)) return;
  const told = { ...event.metrics, ...Object.fromEntries(COUNTERS.map((name) => [name, event.counters?.[name]])), tick: event.tick };
  for (const name of Object.keys(told)) rounds[name] ??= rounds.tick.map(() => null);
  for (const [name, column] of Object.entries(rounds)) column.push(told[name] ?? null);
}

/** Bring the state on by the next event; the sentence that is worth a line beside the event's own, or nothing. */
export function apply(event) {
  state.sequence = event.sequence;
  const strongBefore = state.metrics.strong ?? 0;
  for (const name of ["counters", "metrics", "status", "wish", "attempt", "message"]) if (name in event) state[name] = event[name];
  if ("attempt" in event) page.moving = false;
  if (event.kind === "progressed" || event.kind === "logged") page.moving = true;
  if (event.status && event.status !== "running") state.wish = "";
  if (event.status === "running") state.started ??= event.at;
  if (event.kind === "started") {
    state.ticks = event.ticks || state.ticks;
    page.battles = event.planned || page.battles;
  }
  if (event.found) page.found = event.found;
  if (event.status) state.took = event.took ?? null;
  if (event.kind === "finished") for (const name of ["fresh", "fresh_map", "fresh_coverage"]) page[name] = event[name];
  state.ended = ended() ? (state.ended ?? event.at) : null;
  if (event.kind !== "progressed") return "";
  state.tick = event.tick;
  addRound(event);
  if (!search || strongBefore || !event.metrics?.strong) return "";
  return `First lineup ${page.words.strong.toLowerCase()}, in round ${event.tick.toLocaleString("en-GB")}.`;
}
