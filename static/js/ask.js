// Offers only the players that can play the chosen game, and asks only for what the chosen game needs beside its name.
// Without it all are offered, each with what it plays beside it.
import { findAll } from "./elements.js";

const PLAYERS = "input[data-games]";
const BESIDE = "input[data-beside]";
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

for (const game of games) game.addEventListener("change", show);
window.addEventListener("pageshow", show); // a browser that goes back brings the choice back after the page has loaded
show();
