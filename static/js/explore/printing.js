// Before the page is printed, and after: by the browser's menu, or where print is only shown on the screen.

/** @param {(onPaper: boolean) => void} change */
export function whenPrinted(change) {
  addEventListener("beforeprint", () => change(true));
  addEventListener("afterprint", () => change(false));
  matchMedia("print").addEventListener("change", ({ matches }) => change(matches));
}

/** Charts are not drawn again on paper: explore.css scales them from the size that they were drawn in.
 * @param {HTMLElement} charts */
export function keepDrawnSize(charts) {
  let printing = false;
  whenPrinted((onPaper) => (printing = onPaper));
  new ResizeObserver(() => {
    if (printing || matchMedia("print").matches) return;
    charts.style.setProperty("--drawn-width", `${charts.clientWidth - 16}px`);
    charts.style.setProperty("--drawn-height", `${charts.clientHeight}px`);
  }).observe(charts);
}
