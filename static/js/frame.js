// What the frame of every page needs: menus, theme menu, toasts, times in the reader's zone, focus after a failed form.
import { watchCtrlEnter } from "./ctrl_enter.js";
import { closeMenusOutside } from "./menu.js";
import { watchToasts } from "./toast.js";
import { localTimes } from "./time.js";

function themeMenu(menu) {
  const words = { light: "Light", dark: "Dark" };
  const icon = menu.querySelector("summary use");
  const word = menu.querySelector("[data-theme-word]");
  const icons = {};
  for (const button of menu.querySelectorAll("[data-theme-choice]")) {
    icons[button.dataset.themeChoice] = button.querySelector("use").getAttribute("href");
    button.addEventListener("click", () => {
      window.equipoiseTheme.choose(button.dataset.themeChoice);
      show();
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  }
  const show = () => {
    const chosen = window.equipoiseTheme.choice();
    const shown = document.documentElement.dataset.bsTheme;
    word.textContent = words[shown];
    icon.setAttribute("href", icons[shown]);
    for (const button of menu.querySelectorAll("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosen));
    }
  };
  show();
  document.addEventListener("equipoise:theme", show);
}

// A table larger than its place scrolls: then the keyboard must be able to reach it.
function reachLargeTables() {
  for (const wrap of document.querySelectorAll(".table-wrap")) {
    if (wrap.scrollWidth > wrap.clientWidth || wrap.scrollHeight > wrap.clientHeight) wrap.tabIndex = 0;
    else wrap.removeAttribute("tabindex");
  }
}

document.querySelectorAll("[data-theme-menu]").forEach(themeMenu);
closeMenusOutside();
watchToasts();
watchCtrlEnter();
localTimes(document);
reachLargeTables();
window.addEventListener("resize", reachLargeTables);
document.addEventListener("htmx:load", reachLargeTables);
document.addEventListener("toggle", reachLargeTables, true); // a table that was folded away had no size
document.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));
document.querySelector("[data-form-problem]")?.focus();
