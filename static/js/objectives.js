// Objectives: pressing a number's name puts it into the formula last typed in, where the cursor stood.
let last = document.querySelector("[data-formula]");

document.addEventListener("focusin", (event) => {
  if (event.target.matches?.("[data-formula]")) last = event.target;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-insert]");
  if (!button || !last) return;
  const name = button.dataset.insert;
  const start = last.selectionStart ?? last.value.length;
  last.setRangeText(name, start, last.selectionEnd ?? start, "end");
  last.focus();
  last.dispatchEvent(new Event("input", { bubbles: true }));
});
