// When a job ends: the seconds left, or why nobody can say yet.
import { duration, said, timeLeft, timeLeftByShare } from "./pace.js";
import { done, page, rounds, state } from "./state.js";
/** @import { Ending } from "./head.js" */

/** Seconds left by its rounds, less what the round under way has taken, and what plays the edge again after them; else by the share that is done; else null. */
function byWork() {
  const { seconds = 0 } = state.counters;
  const found = timeLeft(rounds, state.ticks);
  if (!found) return timeLeftByShare(seconds, done());
  const aRound = found[1] / (state.ticks - state.tick);
  const edge = page.battles ? (aRound * state.ticks * (page.edge ?? 0)) / page.battles : 0;
  const since = Math.min(aRound, Math.max(0, seconds - (rounds.seconds.at(-1) ?? 0)));
  return found.map((left) => Math.max(0, left - since + edge));
}

/** {left: [low, middle, high]} in seconds, or {why}; neither for a job that does not run, or that is about to end by a command.
 * @returns {Ending} */
export function ending() {
  if (state.status !== "running" || state.command) return {};
  if (!page.moving) return { why: "It is starting: too early to say when it ends" };
  if (state.ticks && state.tick >= state.ticks && !page.steps && !state.counters.planned) return { why: "Its last measurements are under way" };
  const clock = page.minutes ? Math.max(0, 60 * page.minutes - (state.counters.seconds ?? 0)) : Infinity;
  const found = byWork();
  if (found) return { left: found.map((seconds) => Math.min(seconds, clock)) };
  return { why: clock < Infinity ? `At most ${duration(said(clock))} left` : "Too early to say when it ends" };
}
