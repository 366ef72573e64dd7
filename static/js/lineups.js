// Lineup rules: the chosen pieces are named above each list, and column names can be copied.
import { find, findAll } from "./elements.js";
import { toast } from "./toast.js";

for (const picker of findAll(document, "[data-picker]")) {
  const chosen = find(picker, "[data-chosen]");
  picker.addEventListener("change", () => {
    const names = findAll(picker, "[data-piece]:checked").map((box) => box.dataset.piece);
    chosen.textContent = names.length ? names.join(", ") : "None";
  });
}

for (const button of findAll(document, "[data-copy]")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy ?? "");
      toast("Copied. Paste it into an empty spreadsheet.");
    } catch {
      toast("This browser does not let a page copy. The column names stand above the field.", { problem: true });
    }
  });
}
