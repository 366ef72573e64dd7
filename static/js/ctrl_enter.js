// Ctrl + Enter (Cmd + Enter) in a text box marked data-ctrl-enter sends its form, by the form's first button.
export function watchCtrlEnter() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    const form = event.target.closest?.("[data-ctrl-enter]")?.form;
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("button[type=submit]"));
  });
}
