// The choice of searches to compare, on the page that compares them.
import { keepAlike } from "./alike.js";

const form = document.querySelector(".compare form");
const keep = () => keepAlike([...form.querySelectorAll("[data-asks]")], form.querySelector("[data-apart]"));
form?.addEventListener("change", keep);
if (form) keep();
