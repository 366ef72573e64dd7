// The choice of searches to compare, on the page that compares them.
import { keepAlike } from "./alike.js";
import { findAll, findOptional } from "./elements.js";

const form = findOptional(document, ".compare form");
if (form) {
  const keep = () => keepAlike(findAll(form, "[data-asks]", HTMLInputElement), findOptional(form, "[data-apart]"));
  form.addEventListener("change", keep);
  keep();
}
