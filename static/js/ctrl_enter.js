// Ctrl + Enter (Cmd + Enter) in a text field marked data-ctrl-enter, or in any of a form that keeps what is typed, sends its
// form, by the form's first button.
import { closest, findOptional } from "./elements.js";

const FIELDS = "[data-ctrl-enter], form[data-keep] textarea, form[data-keep] input";

export function watchCtrlEnter() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    const field = closest(event.target, FIELDS);
    const form = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement ? field.form : null;
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(findOptional(form, "button:not([type=button])"));
  });
}
