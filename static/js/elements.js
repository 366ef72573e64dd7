// Looks up and makes elements. What a page must have is named in the error when it is missing or of another kind.

/** The constructor of a kind of element, such as HTMLInputElement.
 * @template {Element} E
 * @typedef {new () => E} Kind */

/** @template {Element} E @param {Element} element @param {string} name @param {Kind<E>} [kind] @returns {E} */
function ofKind(element, name, kind = /** @type {Kind<E>} */ (/** @type {unknown} */ (HTMLElement))) {
  if (element instanceof kind) return element;
  throw new TypeError(`${name} is a ${element.constructor.name}, not a ${kind.name}.`);
}

/** What the selector finds first within `root`, or null.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root @param {string} selector @param {Kind<E>} [kind] @returns {E | null} */
export function findOptional(root, selector, kind) {
  const found = root.querySelector(selector);
  return found && ofKind(found, selector, kind);
}

/** What the selector finds first within `root`; throws when there is nothing.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root @param {string} selector @param {Kind<E>} [kind] @returns {E} */
export function find(root, selector, kind) {
  const found = findOptional(root, selector, kind);
  if (!found) throw new Error(`The page has no ${selector}.`);
  return found;
}

/** All that the selector finds within `root`.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root @param {string} selector @param {Kind<E>} [kind] @returns {E[]} */
export const findAll = (root, selector, kind) => Array.from(root.querySelectorAll(selector), (found) => ofKind(found, selector, kind));

/** The nearest element around `start`, such as an event's target, that the selector fits; or null.
 * @template {Element} [E=HTMLElement]
 * @param {EventTarget | null} start @param {string} selector @param {Kind<E>} [kind] @returns {E | null} */
export function closest(start, selector, kind) {
  const found = start instanceof Element ? start.closest(selector) : null;
  return found && ofKind(found, selector, kind);
}

/** A field of a form by its name; throws when there is none, or several.
 * @template {Element} [E=HTMLInputElement]
 * @param {HTMLFormElement} form @param {string} name @param {Kind<E>} [kind] @returns {E} */
export function field(form, name, kind = /** @type {Kind<E>} */ (/** @type {unknown} */ (HTMLInputElement))) {
  const found = form.elements.namedItem(name);
  if (found instanceof Element) return ofKind(found, `The field ${name}`, kind);
  throw new Error(`The form has no single field ${name}.`);
}

/** What a field of a form holds: of several with this name, the one that is ticked.
 * @param {HTMLFormElement} form @param {string} name @returns {string} */
export function valueOf(form, name) {
  const found = form.elements.namedItem(name);
  if (found instanceof RadioNodeList || found instanceof HTMLInputElement) return found.value;
  if (found instanceof HTMLSelectElement || found instanceof HTMLTextAreaElement) return found.value;
  throw new Error(`The form has no field ${name}.`);
}

/** What the server wrote into the page as JSON.
 * @param {string} id */
export const embedded = (id) => JSON.parse(find(document, `#${id}`, Element).textContent);

/** A copy of the first element of a <template>.
 * @param {string} id @returns {HTMLElement} */
export function copyOf(id) {
  const { content } = find(document, `#${id}`, HTMLTemplateElement);
  return /** @type {HTMLElement} */ (find(content, "*").cloneNode(true));
}

/** make("p", { class: "muted" }, "words", other): text always as text.
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name @param {Record<string, string | number | boolean | null>} [attributes] @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[N]} */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null) made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
}
