// The edge of a search as it grows: what is fetched of it, the legend of its rounds, and its rows for a table.
import { rangeAround, whole } from "../charts/format.js";
import { toldOf, valueText } from "./parts.js";
import { dottedRounds, earlyRounds } from "./pace.js";

const SHAPES = ["○", "□", "△"];
const element = (name, props, ...children) => {
  const made = Object.assign(document.createElement(name), props);
  made.append(...children);
  return made;
};
const line = (css, text = "") => element("span", { className: css, textContent: text });
export const entry = (sign, text) => element("span", { className: "with-mark" }, sign, text);

/* What is fetched never changes, so each is fetched once. */
const pictures = new Map();
function picture(link, query) {
  const url = `${link}?${query}`;
  if (!pictures.has(url)) {
    const asked = fetch(url).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    asked.then((found) => found ?? pictures.delete(url));
    pictures.set(url, asked);
  }
  return pictures.get(url);
}

/** The edge now, at some earlier rounds, and the candidates around it; without a picture of now while the site is away.
 * `fresh`: by battles (episodes) that the search never saw; `grows`: it has rounds; `along`: of which objectives. */
export async function edgeAt(links, { tick, ticks, fresh, grows = true, along = "" }) {
  const early = grows ? earlyRounds(ticks, tick) : [];
  const [now, earlier, around] = await Promise.all([
    picture(links.front, (fresh ? "of=fresh" : `tick=${tick}`) + along),
    Promise.all(early.map(async (round) => ({ tick: round, picture: await picture(links.front, `tick=${round}${along}`) }))),
    Promise.all(grows ? dottedRounds(tick).map((round) => picture(links.around, `tick=${round}${along}`)) : []),
  ]);
  return { now, early: earlier.filter((e) => e.picture), around: around.filter(Boolean) };
}

/** The legend's entries of the rounds that are drawn, the last one by its name. */
export const roundEntries = (early, last) => [
  ...early.map(({ tick }, i) => entry(line(`legend-line legend-early-${i}`, SHAPES[i]), `Round ${whole(tick)}`)),
  entry(line("legend-line legend-now"), last),
];

/** Rows of a picture as [words of y, its range, words of x], the best in y first; `only`: which rows. */
export function edgeRows(picture, { x, y }, only = () => true) {
  const rows = picture.y.map((_, i) => i).filter(only);
  const sign = y.direction === "max" ? -1 : 1;
  rows.sort((a, b) => sign * (picture.y[a] - picture.y[b]));
  return rows.map((i) => {
    const { value, range } = toldOf(y, picture.y[i], rangeAround(picture.y[i], picture.yh[i], picture.ends.y));
    return { i, cells: [value, range || "not known", valueText(x, picture.x[i])] };
  });
}
