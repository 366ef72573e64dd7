// What was typed and not sent is kept on this device (kept_form.js, kept_text.js, typed_numbers.js) for who typed it: it is there again after a
// session has ended by itself. Whoever signs out leaves nothing behind, and nothing of others stays where somebody is signed in.
import { findOptional } from "./elements.js";

const OWNED = /^equipoise-[a-z-]+:(\d+):/; // the number of who typed it
const ASK = "Something that you typed and did not save is kept on this device. Sign out and remove it?";

/** @param {(owner: string) => boolean} theirs */
function kept(theirs) {
  try {
    return Object.keys(localStorage).filter((key) => {
      const owner = OWNED.exec(key)?.[1];
      return owner !== undefined && theirs(owner);
    });
  } catch {
    return []; // the browser keeps nothing
  }
}

/** @param {string[]} keys */
function remove(keys) {
  for (const key of keys) localStorage.removeItem(key);
}

export function watchWhatIsLeft() {
  const { person } = document.body.dataset;
  const form = findOptional(document, "[data-sign-out]", HTMLFormElement);
  if (!person || !form) return;
  remove(kept((owner) => owner !== person));
  form.addEventListener("submit", (event) => {
    const own = kept((owner) => owner === person);
    if (own.length && !window.confirm(ASK)) event.preventDefault();
    else remove(own);
  });
}
