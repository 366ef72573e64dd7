// The edge of a search as it grows: what is fetched of it, the legend of its rounds, and its rows for a table.
import { rangeAround, whole } from "../charts/format.js";
import { make } from "../elements.js";
import { digitsOfColumn, textsOf, valueText } from "./parts.js";
import { dottedRounds, earlyRounds } from "./pace.js";
/** @import { Label, Measure } from "./parts.js" */

/** Lineups, or players, of one round, a column each: x and y with half of their ranges, the verdict, and 1 where it is on
 * the edge. `ends`: the floors and caps; `median`: the median baseline team's strength; `short`: what a re-check says.
 * @typedef {object} Picture
 * @property {number[]} id
 * @property {number[]} x
 * @property {number[]} y
 * @property {(number | null)[]} xh
 * @property {(number | null)[]} yh
 * @property {number[]} verdict
 * @property {(number | boolean)[]} edge
 * @property {{ x: (number | null)[], y: (number | null)[] }} ends
 * @property {number | null} median
 * @property {number | null} [median_half] */
/** The dots around an edge. @typedef {Pick<Picture, "x" | "y">} Dots */
/** The edge as it was at a round. @typedef {{ tick: number, picture: Picture }} Early */

const SHAPES = ["○", "□", "△"];
/** @param {string} css @param {string} [text] */
const line = (css, text = "") => make("span", { class: css }, text);
/** @param {Node} sign @param {string} text */
export const entry = (sign, text) => make("span", { class: "with-mark" }, sign, text);

/* What is fetched never changes, so each is fetched once; null where there is none, undefined where the site gave no answer. */
/** @type {Map<string, Promise<Picture | null | undefined>>} */
const pictures = new Map();
/** @param {string} link @param {string} query */
function picture(link, query) {
  const url = `${link}?${query}`;
  const before = pictures.get(url);
  if (before) return before;
  /** @type {Promise<Picture | null | undefined>} */
  const asked = fetch(url).then((answer) => (answer.ok ? answer.json() : answer.status === 404 ? null : undefined)).catch(() => undefined);
  asked.then((found) => found ?? pictures.delete(url));
  pictures.set(url, asked);
  return asked;
}

/** @param {{ tick: number, picture?: Picture | null }} round @returns {round is Early} */
const has = (round) => Boolean(round.picture);

/** The edge now, at some earlier rounds, and the candidates around it; without a picture of now while the site is away.
 * `partly`: the site gave no answer to some of it.
 * `fresh`: by battles (episodes) that the search never saw; `grows`: it has rounds; `along`: of which objectives.
 * @param {Record<string, string>} links
 * @param {{ tick: number, ticks: number, fresh: boolean, grows?: boolean, along?: string }} asked */
export async function edgeAt(links, { tick, ticks, fresh, grows = true, along = "" }) {
  const early = grows ? earlyRounds(ticks, tick) : [];
  const [now, earlier, around] = await Promise.all([
    picture(links.front, (fresh ? "of=fresh" : `tick=${tick}`) + along),
    Promise.all(early.map(async (round) => ({ tick: round, picture: await picture(links.front, `tick=${round}${along}`) }))),
    Promise.all(grows ? dottedRounds(tick).map((round) => picture(links.around, `tick=${round}${along}`)) : []),
  ]);
  const partly = [now, ...earlier.map((round) => round.picture), ...around].includes(undefined);
  return { now, early: earlier.filter(has), around: around.filter((dots) => dots !== null && dots !== undefined), partly };
}

/** The legend's entries of the rounds that are drawn, the last one by its name.
 * @param {Early[]} early @param {string} last */
export const roundEntries = (early, last) => [
  ...early.map(({ tick }, i) => entry(line(`legend-line legend-early-${i}`, SHAPES[i]), `Round ${whole(tick)}`)),
  entry(line("legend-line legend-now"), last),
];

/** Rows of a picture as [words of y, its range, words of x], the best in y first; `only`: which rows.
 * @param {Picture} picture
 * @param {{ x: Label & Measure, y: Label & Measure }} axes
 * @param {(row: number) => boolean | number} [only] */
export function edgeRows(picture, { x, y }, only = () => true) {
  const rows = picture.y.map((_, i) => i).filter(only);
  const sign = y.direction === "max" ? -1 : 1;
  rows.sort((a, b) => sign * (picture.y[a] - picture.y[b]));
  const up = { ...y, digits: digitsOfColumn(y, picture.y, picture.yh) };
  const across = { ...x, digits: digitsOfColumn(x, picture.x, picture.xh) };
  return rows.map((i) => {
    const { value, range } = textsOf(up, picture.y[i], rangeAround(picture.y[i], picture.yh[i], picture.ends.y));
    return { i, cells: [value, range || "not known", valueText(across, picture.x[i])] };
  });
}
