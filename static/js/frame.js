// What the frame of every page needs: menus, theme menu, toasts, times in the reader's zone, what is typed, the keyboard.
import { watchCtrlEnter } from "./ctrl_enter.js";
import { find, findAll } from "./elements.js";
import { watchFilters } from "./filter.js";
import { watchFocus } from "./focus_next.js";
import { keepTypedText } from "./kept_text.js";
import { watchLeaving } from "./leaving.js";
import { watchWhatIsLeft } from "./left_behind.js";
import { closeMenusOutside } from "./menu.js";
import { watchToasts } from "./toast.js";
import { localTimes } from "./time.js";

/** @param {HTMLDetailsElement} menu */
function themeMenu(menu) {
  const words = { light: "Light", dark: "Dark" };
  const icon = find(menu, "summary use", SVGUseElement);
  const word = find(menu, "[data-theme-word]");
  const choices = findAll(menu, "[data-theme-choice]");
  /** @type {Record<string, string>} */
  const icons = {};
  for (const button of choices) {
    const theme = button.dataset.themeChoice ?? "";
    icons[theme] = find(button, "use", SVGUseElement).getAttribute("href") ?? "";
    button.addEventListener("click", () => {
      window.equipoiseTheme.choose(theme);
      show();
      menu.open = false;
      find(menu, "summary").focus();
    });
  }
  const show = () => {
    const chosen = window.equipoiseTheme.choice();
    const shown = document.documentElement.dataset.bsTheme === "dark" ? "dark" : "light";
    word.textContent = words[shown];
    icon.setAttribute("href", icons[shown]);
    for (const button of choices) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosen));
    }
  };
  show();
  document.addEventListener("equipoise:theme", show);
}

// A table larger than its place scrolls: then the keyboard must be able to reach it.
function reachLargeTables() {
  for (const wrap of findAll(document, ".table-wrap")) {
    if (wrap.scrollWidth > wrap.clientWidth || wrap.scrollHeight > wrap.clientHeight) wrap.tabIndex = 0;
    else wrap.removeAttribute("tabindex");
  }
}

findAll(document, "[data-theme-menu]", HTMLDetailsElement).forEach(themeMenu);
closeMenusOutside();
watchToasts();
watchCtrlEnter();
watchLeaving();
watchWhatIsLeft();
keepTypedText();
localTimes(document);
reachLargeTables();
window.addEventListener("resize", reachLargeTables);
document.addEventListener("htmx:load", reachLargeTables);
document.addEventListener("toggle", reachLargeTables, true); // a table that was folded away had no size
document.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));
watchFocus();
watchFilters();
