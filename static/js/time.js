// The server writes times in its own zone; <time data-when> is rewritten in the reader's: "today 14:32", "12 Nov 09:00".
import { findAll } from "./elements.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const toTheSecond = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** @param {Date} at @param {Date} [now] */
export function when(at, now = new Date()) {
  /** @param {Date} date */
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const daysAgo = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (daysAgo === 0) return `today ${clock.format(at)}`;
  if (daysAgo === 1) return `yesterday ${clock.format(at)}`;
  return at.getFullYear() === now.getFullYear() ? `${day.format(at)} ${clock.format(at)}` : dayOfYear.format(at);
}

/** The same to the second, as short as it can be: "14:32:05", on other days "12 Nov 14:32:05".
 * @param {Date} at @param {Date} [now] */
export function exactly(at, now = new Date()) {
  const date = at.toDateString() === now.toDateString() ? "" : `${(at.getFullYear() === now.getFullYear() ? day : dayOfYear).format(at)} `;
  return `${date}${toTheSecond.format(at)}`;
}

/** @param {ParentNode} root */
export function localTimes(root) {
  for (const element of findAll(root, "time[data-when], time[data-exactly]", HTMLTimeElement)) {
    const at = new Date(element.dateTime);
    if (!Number.isNaN(at.getTime())) element.textContent = "exactly" in element.dataset ? exactly(at) : when(at);
  }
}
