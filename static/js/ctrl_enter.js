// Ctrl + Enter (Cmd + Enter) in a text box marked data-ctrl-enter sends its form, by the form's first button.
import { closest, find } from "./elements.js";

export function watchCtrlEnter() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    const form = closest(event.target, "[data-ctrl-enter]", HTMLTextAreaElement)?.form;
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(find(form, "button[type=submit]"));
  });
}
