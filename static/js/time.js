// The server writes times in its own zone; <time data-when> is rewritten in the reader's: "today 14:32", "12 Nov 09:00".
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

export function when(at, now = new Date()) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  const daysAgo = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (daysAgo === 0) return `today ${clock.format(at)}`;
  if (daysAgo === 1) return `yesterday ${clock.format(at)}`;
  return at.getFullYear() === now.getFullYear() ? `${day.format(at)} ${clock.format(at)}` : dayOfYear.format(at);
}

export function localTimes(root) {
  for (const element of root.querySelectorAll?.("time[data-when]") ?? []) {
    const at = new Date(element.dateTime);
    if (!Number.isNaN(at.getTime())) element.textContent = when(at);
  }
}
