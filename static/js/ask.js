// Offers only the players that can play the chosen game, asks only for what the chosen game needs beside its name, and
// lets a choice that cannot stand beside another one give way to the usual one of those that can.
// Without it all are offered, each with what it plays beside it.
import { findAll } from "./elements.js";

const PLAYERS = "input[data-games]";
const BESIDE = "input[data-beside]";
const CHOICES = "input[data-beside-choice]";
const games = findAll(document, "select[name=game]", HTMLSelectElement);

/** A player that is hidden is not sent; its tick stays for when its game is chosen again. */
function show() {
  for (const box of findAll(document, PLAYERS, HTMLInputElement)) {
    const able = (box.dataset.games ?? "").split(" ");
    box.disabled = !games.every(({ value }) => able.includes(value));
    box.closest("label")?.toggleAttribute("hidden", box.disabled);
  }
  for (const box of findAll(document, BESIDE, HTMLInputElement)) {
    const needed = games.some(({ value }) => value === box.dataset.beside);
    box.closest(".field")?.toggleAttribute("hidden", !needed);
  }
}

/** @param {HTMLInputElement} chosen */
function giveWay(chosen) {
  const able = (chosen.dataset.able ?? "").split(" ");
  const others = findAll(document, `input[name="${chosen.dataset.besideChoice}"]`, HTMLInputElement);
  if (!chosen.checked || others.some(({ checked, value }) => checked && able.includes(value))) return;
  const usual = others.find(({ value }) => value === able[0]);
  if (!usual) return;
  usual.checked = true;
  usual.dispatchEvent(new Event("change", { bubbles: true })); // what the page says before the start is about it, too
}

// What the page says before the start is written anew while somebody types: its details stay open if they are.
const DETAILS = "#before details";
let open = false;
document.addEventListener("toggle", ({ target }) => {
  if (target instanceof HTMLDetailsElement && target.matches(DETAILS)) open = target.open;
}, true); // it does not bubble
document.addEventListener("htmx:afterSwap", () => {
  for (const details of findAll(document, DETAILS, HTMLDetailsElement)) details.open = open;
});

for (const chosen of findAll(document, CHOICES, HTMLInputElement)) chosen.addEventListener("change", () => giveWay(chosen));
for (const game of games) game.addEventListener("change", show);
window.addEventListener("pageshow", show); // a browser that goes back brings the choice back after the page has loaded
show();
