// Lineup rules: the chosen pieces are named above each list, and column names can be copied.
import { toast } from "./toast.js";

for (const picker of document.querySelectorAll("[data-picker]")) {
  const chosen = picker.querySelector("[data-chosen]");
  picker.addEventListener("change", () => {
    const names = [...picker.querySelectorAll("[data-piece]:checked")].map((box) => box.dataset.piece);
    chosen.textContent = names.length ? names.join(", ") : "None";
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      toast("Copied. Paste it into an empty spreadsheet.");
    } catch {
      toast("This browser does not let a page copy. The column names stand above the field.", { problem: true });
    }
  });
}
