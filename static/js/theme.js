// Loaded before the first paint, so that a stored choice of light or dark never flashes.
// The choice is "light", "dark" or "auto" (as the device); data-bs-theme on <html> is always "light" or "dark".
(() => {
  "use strict";
  const KEY = "equipoise-theme";
  const device = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is switched off: follow the device
    }
  };
  const choice = () => (["light", "dark"].find((theme) => theme === stored()) ?? "auto");
  const apply = () => {
    const chosen = choice();
    const theme = chosen === "auto" ? (device.matches ? "dark" : "light") : chosen;
    const root = document.documentElement;
    if (root.getAttribute("data-bs-theme") === theme) return;
    root.setAttribute("data-bs-theme", theme);
    document.dispatchEvent(new CustomEvent("equipoise:theme", { detail: { theme } }));
  };
  apply();
  device.addEventListener("change", apply);
  window.addEventListener("storage", (event) => event.key === KEY && apply());
  window.equipoiseTheme = {
    choice,
    /** @param {string} value */
    choose(value) {
      try {
        localStorage.setItem(KEY, value);
      } catch {
        return;
      }
      apply();
    },
  };
})();
