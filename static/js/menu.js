// Menus are <details class="menu">. This closes them on Escape, on a click outside and when the focus leaves.
import { find, findAll } from "./elements.js";

export function closeMenusOutside() {
  const open = () => findAll(document, "details.menu[open]", HTMLDetailsElement);
  /** @param {Event} event */
  const closeOthers = ({ target }) => {
    for (const menu of open()) if (!(target instanceof Node && menu.contains(target))) menu.open = false;
  };
  document.addEventListener("pointerdown", closeOthers);
  document.addEventListener("focusin", closeOthers);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      find(menu, "summary").focus();
    }
  });
}
