// One event stream a project and browser, however many tabs are open: browsers allow six HTTP/1.1 connections to a
// site, and every stream holds one. The visible tab that gets the project's lock leads: it opens the EventSource and
// passes each message on over a BroadcastChannel. A hidden tab lets go, and reads on from its last number when seen.
// Browsers offer locks on https and localhost only; elsewhere every visible tab opens a stream of its own.
//
//   const stop = listen("/events/?project=slug", onMessage)
//   onMessage({ type: "snapshot" | "event" | "gone", id, data })     "gone": signed out, or no longer a member
//
// A snapshot comes first, and again whenever the connection was lost: what a page asked for meanwhile may have failed.
// An event may repeat what a snapshot told; its job and sequence say whether it is news.
const TRIES = 3;
const ASK_EVERY_MS = 5000;
const SILENT_MS = 30_000; // the server sends a beat every ten seconds
const TYPES = /** @type {const} */ (["snapshot", "event", "beat"]);

/** What the server tells of a job, at once (a snapshot's jobs) or as something happened.
 * @typedef {object} JobNews
 * @property {number} job
 * @property {number} sequence
 * @property {string} status */
/** @typedef {{ type: "event", id: number, data: JobNews }} EventMessage */
/** @typedef {{ type: "snapshot", id: number, data: { jobs: JobNews[] } }} SnapshotMessage */
/** @typedef {EventMessage | SnapshotMessage | { type: "gone", id: number, data: object }} Message */
/** @typedef {Message | { type: "beat", id: number, data: object }} Notice */

/** @param {string} url @param {(message: Message) => void} onMessage */
export function listen(url, onMessage) {
  const name = `equipoise:${url}`;
  const channel = new BroadcastChannel(name);
  const alone = !navigator.locks;
  let last = 0;
  /** @type {EventSource | null} */
  let source = null;
  let failures = 0;
  let heard = 0;
  /** @type {((value?: unknown) => void) | null} */
  let letGo = null;
  /** @type {AbortController | null} */
  let waiting = null;
  let asking = 0;

  /** @param {Notice} message */
  const take = (message) => {
    heard = Date.now();
    if (message.type === "event" && message.id && message.id <= last) return;
    last = message.type === "snapshot" ? message.id : Math.max(last, message.id);
    if (message.type !== "beat") onMessage(message);
  };
  /** @param {Notice} message */
  const tell = (message) => {
    if (!alone) channel.postMessage(message);
    take(message);
  };
  if (!alone) channel.addEventListener("message", (event) => take(event.data));

  // What is new since the last number, in one answer: for a tab that comes in late, and where streams do not get through.
  /** @param {(message: Notice) => void} report @param {number} [after] @returns {Promise<void>} */
  const ask = async (report, after = last) => {
    let answer;
    try {
      answer = await fetch(`${url}&poll=1${after ? `&after=${after}` : ""}`, { cache: "no-store" });
    } catch {
      return; // the site is away; asked again in a moment
    }
    if ([401, 403, 404].includes(answer.status)) return report({ type: "gone", id: 0, data: {} });
    if (!answer.ok) return;
    const { snapshot, events, cursor } = await answer.json();
    if (snapshot) report({ type: "snapshot", id: cursor, data: snapshot });
    events.forEach((/** @type {JobNews} */ data, /** @type {number} */ i) => report({ type: "event", id: i === events.length - 1 ? cursor : 0, data }));
  };

  const open = () => {
    source?.close();
    heard = Date.now();
    source = new EventSource(last ? `${url}&after=${last}` : url);
    source.addEventListener("open", () => {
      if (failures) ask(tell, 0);
      failures = 0;
    });
    source.addEventListener("error", () => (failures += 1));
    for (const type of TYPES) {
      source.addEventListener(type, (event) => tell({ type, id: Number(event.lastEventId), data: JSON.parse(event.data) }));
    }
  };
  // While leading: a stream that failed, or was refused because this person has too many, is asked for what it would have
  // told; one that closed or fell silent is reopened.
  const watch = () => {
    if (!source) return;
    const closed = source.readyState === EventSource.CLOSED;
    if (closed || failures >= TRIES) ask(tell);
    if (closed || Date.now() - heard > SILENT_MS) open();
  };
  const lead = () => {
    open();
    asking = setInterval(watch, ASK_EVERY_MS);
    return new Promise((resolve) => (letGo = resolve));
  };
  const leave = () => {
    waiting?.abort();
    waiting = null;
    source?.close();
    source = null;
    clearInterval(asking);
    letGo?.();
  };
  const takePart = () => {
    if (document.visibilityState === "hidden") return leave();
    if (waiting) return;
    waiting = new AbortController();
    if (alone) {
      lead();
      return;
    }
    navigator.locks.request(name, { signal: waiting.signal }, lead).catch((error) => {
      if (error.name !== "AbortError") throw error;
    });
    setTimeout(() => source || ask(take), 100); // another tab leads: ask for what was told before this one listened
  };

  const backOnline = () => ask(take, 0);
  document.addEventListener("visibilitychange", takePart);
  window.addEventListener("online", backOnline);
  takePart();
  return () => {
    window.removeEventListener("online", backOnline);
    document.removeEventListener("visibilitychange", takePart);
    leave();
    channel.close();
  };
}
