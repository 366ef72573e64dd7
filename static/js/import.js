// The import page: a file may be dropped anywhere on the form, and a copied table may be pasted anywhere on the page.
const file = document.querySelector("input[type=file][name=file]");
const text = document.querySelector("textarea[name=text]");
const form = file.form;

form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("drop-target");
});
form.addEventListener("dragleave", () => form.classList.remove("drop-target"));
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("drop-target");
  if (event.dataTransfer.files.length) {
    file.files = event.dataTransfer.files;
    file.focus();
  }
});
document.addEventListener("paste", (event) => {
  const pasted = event.clipboardData.getData("text/plain");
  if (event.target.closest?.("input, textarea") || !pasted.includes("\t")) return;
  text.value = pasted;
  text.focus();
});
