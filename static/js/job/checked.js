// What a re-check says of its lineups: the sentences of the explorer, which are the server's, and their marks for the chart.
import { mark } from "../marks.js";
import { entry } from "./edge.js";
import { at, ended, links, page } from "./state.js";
/** @import { Picture } from "./edge.js" */

/** What is said of one lineup: its verdict, in words, and the mark of these.
 * @typedef {{ verdict: number, short: string, mark: string }} Mark */
/** Marks by lineup. @typedef {Record<number, Mark>} Marks */

let marks = page.checked;
let settled = ended();

/** Ask again once it has ended: until then its lineups are being played, and nothing is said of them. */
async function settle() {
  if (settled || !ended()) return;
  const answer = await fetch(links.checked, { cache: "no-store" }).catch(() => null);
  if (!answer?.ok) return;
  const { html, marks: now } = await answer.json();
  at("checked-list").innerHTML = html; // rendered and escaped by the site's own template
  [marks, settled] = [now, true];
}

/** The picture of a re-check with the verdicts that the page tells, in place of those of its own battles alone.
 * @param {Picture} picture */
export async function judged(picture) {
  await settle();
  return { ...picture, verdict: picture.id.map((id) => marks[id]?.verdict ?? 0), short: picture.id.map((id) => marks[id]?.short ?? "") };
}

/** One entry for each mark, with all that is said of lineups that wear it.
 * @param {Picture & { short: string[] }} picture */
export function legendOf({ id, short }) {
  /** @type {Map<string, Set<string>>} */
  const said = new Map();
  short.forEach((words, i) => {
    const kind = marks[id[i]]?.mark || "fair";
    if (words) said.set(kind, (said.get(kind) ?? new Set()).add(words));
  });
  return [...said].map(([kind, words]) => entry(mark(kind), capital([...words].join(", "))));
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
