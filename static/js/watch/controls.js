// What plays and pauses, how fast, and from how far: the button with its sign, a row of speeds, which takes no arrow key and
// no letter, and the button for the whole field.
import { closest, find, findAll } from "../elements.js";

export class PlayButton {
  /** @param {HTMLElement} stage @param {string} selector @param {() => void} press */
  constructor(stage, selector, press) {
    this.element = find(stage, selector, HTMLButtonElement);
    this.element.addEventListener("click", press);
  }

  /** @param {string} word what a press does @param {boolean} pauses */
  name(word, pauses) {
    find(this.element, "[data-word]").textContent = word;
    find(this.element, "[data-goes]").hidden = pauses;
    find(this.element, "[data-stands]").hidden = !pauses;
  }
}

/** How fast it goes, as the row of buttons says. A pointer leaves the keyboard where it plays.
 * @param {HTMLElement} stage @param {HTMLElement} after takes the keyboard after a pointer @returns {() => number} */
export function speeds(stage, after) {
  const row = find(stage, "[data-speeds]");
  const all = findAll(row, "[data-speed]", HTMLButtonElement);
  row.addEventListener("click", (event) => {
    const pressed = closest(event.target, "[data-speed]", HTMLButtonElement);
    if (!pressed) return;
    for (const each of all) each.setAttribute("aria-pressed", String(each === pressed));
    if (event.detail > 0) after.focus({ preventScroll: true });
  });
  return () => Number(find(row, "[aria-pressed=true]").dataset.speed);
}

/** Whether the whole field is wanted, as its button says, where there is one.
 * @param {HTMLElement} stage @param {() => void} changed @returns {() => boolean} */
export function farther(stage, changed) {
  const [button] = findAll(stage, "[data-far]", HTMLButtonElement);
  button?.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    changed();
  });
  return () => button?.getAttribute("aria-pressed") === "true";
}
