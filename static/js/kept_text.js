// What is typed, ticked or chosen in a form marked data-keep is kept on this device until it was sent, whatever is opened
// meanwhile, and stands there again. The mark names the form, on whichever page it stands. A form that the site keeps as well (hx-post) is sent there
// once more as its page is left. Passwords and files are never kept (left_behind.js: who signs out leaves nothing).
import { closest, findAll } from "./elements.js";

const FORMS = "form[data-keep]";
const KEPT_THERE = "[hx-post]"; // by the site as well
const TYPED = "textarea, select, input[type=text], input[type=email], input[type=checkbox], input[type=radio], input:not([type])";
const TICKED = "1";
const LONGEST = 200_000; // characters: what is longer was pasted from a file that is still there
const SENT = "equipoise-sent"; // what this tab has sent and does not know to have arrived, and from which page

/** @typedef {HTMLTextAreaElement | HTMLInputElement | HTMLSelectElement} Field */

/** @param {HTMLFormElement} form @returns {Field[]} */
const fieldsOf = (form) =>
  [...form.querySelectorAll(TYPED)].filter((each) => each instanceof HTMLTextAreaElement || each instanceof HTMLInputElement || each instanceof HTMLSelectElement);

/** @param {Field} field */
const ticks = (field) => field.type === "checkbox" || field.type === "radio";

/** What a field says: its text, what is chosen, or whether it is ticked.
 * @param {Field} field */
function said(field) {
  if (field instanceof HTMLInputElement && ticks(field)) return field.checked ? TICKED : "";
  return field.value;
}

/** What a field said when the page came.
 * @param {Field} field */
function atFirst(field) {
  if (field instanceof HTMLSelectElement) return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value ?? "";
  if (field instanceof HTMLInputElement && ticks(field)) return field.defaultChecked ? TICKED : "";
  return field.defaultValue;
}

/** @param {Field} field @param {string} text */
function say(field, text) {
  if (field instanceof HTMLInputElement && ticks(field)) field.checked = text === TICKED;
  else if (!(field instanceof HTMLSelectElement) || [...field.options].some(({ value }) => value === text)) field.value = text;
}

/** The browser may keep nothing: then what was typed lasts as long as its page.
 * @template T @param {() => T} use @param {T} otherwise */
function ifKept(use, otherwise) {
  try {
    return use();
  } catch {
    return otherwise;
  }
}

class KeptText {
  /** @param {string} person */
  constructor(person) {
    this.start = `equipoise-text:${person}:`;
    /** What the site has of a field, once it was sent there; before that, what the page came with. @type {WeakMap<Field, string>} */
    this.there = new WeakMap();
    /** What of a field is on its way to the site. @type {WeakMap<Field, string>} */
    this.going = new WeakMap();
    /** Whether the page is being left. The site may have written the next one before it got what it answers now. */
    this.leaving = false;
  }

  /** Whether the site has what a field says, and gets nothing else of it.
   * @param {Field} field */
  isThere = (field) => [this.there.get(field) ?? atFirst(field), this.going.get(field) ?? said(field)].every((text) => text === said(field));

  /** @param {HTMLFormElement} form @param {Field} field */
  key = (form, field) => `${this.start}${form.dataset.keep}:${field.name}${ticks(field) ? `=${field.value}` : ""}`;

  /** @param {HTMLFormElement} form @param {Field} field */
  keep(form, field) {
    const text = said(field);
    if (this.isThere(field) || text.length > LONGEST) this.forget([this.key(form, field)]);
    else ifKept(() => localStorage.setItem(this.key(form, field), text), undefined);
  }

  /** What the site has of a form that it keeps as well is its own from now on: it may be given up there.
   * @param {HTMLFormElement} form */
  bringBack(form) {
    for (const field of fieldsOf(form)) {
      const text = ifKept(() => localStorage.getItem(this.key(form, field)), null);
      if (text && text === said(field) && form.matches(KEPT_THERE)) this.forget([this.key(form, field)]);
      if (text === null || text === said(field)) continue;
      say(field, text);
      const fold = closest(field, "details.fold", HTMLDetailsElement);
      if (fold) fold.open = true;
      for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
    }
  }

  /** @param {HTMLFormElement} form */
  keysOf(form) {
    return fieldsOf(form).map((field) => this.key(form, field));
  }

  /** @param {string[]} keys */
  forget(keys) {
    ifKept(() => keys.forEach((key) => localStorage.removeItem(key)), undefined);
  }

  /** The form is on its way: where the next page is what it led to, it has arrived.
   * @param {HTMLFormElement} form */
  send(form) {
    ifKept(() => sessionStorage.setItem(SENT, JSON.stringify({ from: location.pathname, keys: this.keysOf(form) })), undefined);
  }

  /** What was sent from the page before has arrived if it was answered by leading to another page. A form that was refused is
   * shown again by its own address, and who had to sign in first comes from another page. */
  arrived() {
    const sent = ifKept(() => sessionStorage.getItem(SENT), null);
    if (!sent) return;
    ifKept(() => sessionStorage.removeItem(SENT), undefined);
    const { from, keys } = JSON.parse(sent);
    const [arrival] = performance.getEntriesByType("navigation");
    const led = arrival instanceof PerformanceNavigationTiming && arrival.redirectCount > 0;
    if (led && document.referrer && new URL(document.referrer).pathname === from) this.forget(keys);
  }
}

/** A form that htmx sends has arrived when it is answered, but for what was typed since.
 * @param {KeptText} kept */
function watchHtmx(kept) {
  /** @type {WeakMap<HTMLFormElement, Map<Field, string>>} */
  const asked = new WeakMap();
  document.addEventListener("htmx:beforeRequest", ({ target }) => {
    const form = closest(target, FORMS, HTMLFormElement);
    if (!form) return;
    asked.set(form, new Map(fieldsOf(form).map((field) => [field, said(field)])));
    asked.get(form)?.forEach((text, field) => kept.going.set(field, text));
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = closest(event.target, FORMS, HTMLFormElement);
    const texts = form && asked.get(form);
    texts?.forEach((_, field) => kept.going.delete(field));
    if (!form || !texts || !event.detail.successful) return;
    texts.forEach((text, field) => kept.there.set(field, text));
    if (!kept.leaving) kept.forget(fieldsOf(form).filter(kept.isThere).map((field) => kept.key(form, field)));
  });
}

/** Whoever leaves sooner than htmx sends a form, sends it by leaving; but not whoever leaves by sending one.
 * @param {KeptText} kept */
function sendOnLeaving(kept) {
  let leavesBySending = false;
  /** What was sent in this way, which nobody answers. @type {WeakMap<Field, string>} */
  const sent = new WeakMap();
  const send = () => {
    if (leavesBySending) return;
    for (const form of findAll(document, FORMS + KEPT_THERE, HTMLFormElement)) {
      const late = fieldsOf(form).filter((field) => !kept.isThere(field) && sent.get(field) !== said(field));
      const address = form.getAttribute("hx-post");
      if (!late.length || !address || !navigator.sendBeacon(address, new FormData(form))) continue;
      late.forEach((field) => sent.set(field, said(field)));
    }
  };
  const leave = () => {
    kept.leaving = true;
    send();
  };
  document.addEventListener("submit", (event) => (leavesBySending = !event.defaultPrevented));
  window.addEventListener("pageshow", () => (leavesBySending = kept.leaving = false));
  window.addEventListener("beforeunload", leave);
  window.addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && send());
}

export function keepTypedText() {
  const { person } = document.body.dataset;
  if (!person) return;
  const kept = new KeptText(person);
  kept.arrived();
  document.addEventListener("input", ({ target }) => {
    kept.leaving = false; // after all
    const form = closest(target, FORMS, HTMLFormElement);
    const fields = form ? fieldsOf(form) : [];
    const field = fields.find((each) => each === target);
    if (form && field) for (const each of field.type === "radio" ? fields.filter(({ name }) => name === field.name) : [field]) kept.keep(form, each);
  });
  document.addEventListener("submit", (event) => {
    const form = closest(event.target, FORMS, HTMLFormElement);
    const elsewhere = event.submitter?.hasAttribute("formaction"); // to do something else: what is typed is still wanted
    if (form && !event.defaultPrevented && !elsewhere) kept.send(form);
  });
  document.addEventListener("equipoise:sent", ({ target }) => {
    const form = closest(target, FORMS, HTMLFormElement);
    if (form) kept.forget(kept.keysOf(form));
  });
  document.addEventListener("click", ({ target }) => {
    const form = closest(target, "[data-give-up]") && closest(target, FORMS, HTMLFormElement);
    if (form) kept.forget(kept.keysOf(form));
  });
  watchHtmx(kept);
  sendOnLeaving(kept);
  findAll(document, FORMS, HTMLFormElement).forEach((form) => kept.bringBack(form));
}
