// Menus are <details class="menu">. This closes them on Escape, on a click outside and when the focus leaves.
export function closeMenusOutside(root = document) {
  const open = () => root.querySelectorAll("details.menu[open]");
  root.addEventListener("pointerdown", (event) => {
    for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
  });
  root.addEventListener("focusin", (event) => {
    for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}
