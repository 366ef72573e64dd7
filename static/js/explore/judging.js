// Verdicts by a line that somebody moved, by the rules of webapp/studies/explore_line.py: keep the two alike.
import { STRONG, UNDER, UNSURE } from "./lineups.js";
/** @import { Lineups } from "./lineups.js" */

// Places in meta.moved_sure, which says how sure in words.
const BY_SEARCH = [1, 3, 4];
export const MOVED_WEAK = 2;
const UNDER_FRESH = 0;
const STRONG_FRESH = 5;

/** {verdict, sure} of every lineup for the lines that its objectives have now.
 * @param {Lineups} lineups */
export function judge(lineups) {
  const { count, objectives, value, half, meant, meta } = lineups;
  const signs = objectives.map((o) => (o.direction === "max" ? 1 : -1));
  const lined = objectives.flatMap(({ threshold }, k) => (threshold === null ? [] : [{ k, line: threshold }]));
  const j = objectives.findIndex((o) => o.strength);
  const median = j < 0 ? null : (meta.median?.value ?? null);
  const theirs = meta.median?.half ?? Infinity; // the median team's own range counts too
  const verdict = new Uint8Array(count);
  const sure = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    const gaps = lined.map(({ k, line }) => ({ gap: signs[k] * (value[k][i] - line), reach: half[k][i] }));
    const over = !meant[i] && gaps.some(({ gap }) => gap >= 0);
    const lead = median === null ? null : signs[j] * (value[j][i] - median);
    const reach = lead === null ? 0 : Math.hypot(half[j][i], theirs);
    const strong = lead === null || lead > reach;
    verdict[i] = !over ? UNDER : strong && gaps.some(({ gap, reach: own }) => gap - own >= 0) ? STRONG : UNSURE;
    sure[i] = verdict[i] === UNSURE && lead !== null && lead < -reach ? MOVED_WEAK : BY_SEARCH[verdict[i]];
  }
  for (const id of lineups.fresh.keys()) {
    const i = lineups.row(id);
    if (i < 0) continue;
    if (verdict[i] === UNDER) sure[i] = UNDER_FRESH;
    if (verdict[i] === STRONG) sure[i] = STRONG_FRESH;
  }
  return { verdict, sure };
}
