// What the parts of the explorer share: icons, canvases, what cannot be used, and what covers a small screen.
import { find, findAll } from "../elements.js";

const SVG = "http://www.w3.org/2000/svg";

/** An icon of the sprite that the page itself uses.
 * @param {string} name @param {number} [size] */
export function icon(name, size = 18) {
  const [sheet] = (find(document, "svg.icon use", SVGUseElement).getAttribute("href") ?? "").split("#");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", size === 18 ? "icon" : `icon icon-${size}`);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${sheet}#${name}`);
  svg.append(use);
  return svg;
}

/** Say that something cannot be used now: it stays where Tab and the pointer find it, for its reason is told there.
 * @param {Element} element @param {boolean} disabled */
export function setDisabled(element, disabled) {
  if (disabled) element.setAttribute("aria-disabled", "true");
  else element.removeAttribute("aria-disabled");
}

/** The context of a canvas; throws where the browser draws on none.
 * @template C @param {C | null} context @returns {C} */
export function drawable(context) {
  if (context === null) throw new Error("This browser does not draw on canvases.");
  return context;
}

export const narrow = matchMedia("(max-width: 991.98px)");

/** Open or close something that covers a small screen: what lies under it cannot be reached meanwhile.
 * @param {HTMLElement} element @param {boolean} open */
export function cover(element, open) {
  element.classList.toggle("covering", open);
  document.documentElement.classList.toggle("covered", open && narrow.matches);
  for (const other of findAll(document, "[data-under-cover], .bar, .head, .foot, .skip-link")) {
    other.inert = open && narrow.matches && !other.contains(element) && other !== element;
  }
}
