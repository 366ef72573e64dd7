// Start asks the site in a request that outlives the page: whoever leaves in that moment, or closes the tab, has the job
// all the same.
import { find, make } from "./elements.js";
import { toast } from "./toast.js";

/** ``filled()`` is what the form describes; ``before()`` is called first. A second press while the first is on its way
 * does nothing.
 * @param {HTMLFormElement} form @param {{ filled: () => FormData, before: () => void }} how */
export function startsFrom(form, { filled, before }) {
  const button = find(form, "[data-start]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-busy") === "true") return;
    before();
    button.setAttribute("aria-busy", "true");
    const data = filled();
    let left = false;
    window.addEventListener("beforeunload", () => (left = true), { once: true });
    const answer = await fetch(location.href, { method: "POST", body: data, headers: { Accept: "application/json" }, keepalive: true }).catch(() => null);
    if (left) return; // the person is on the way to another page: stay out of it
    if (!answer) {
      button.removeAttribute("aria-busy");
      toast("The site does not answer. What you typed is still here; press Start again in a moment.", { problem: true });
      return;
    }
    const reply = await answer.json().catch(() => null);
    if (reply?.job) location.assign(reply.job);
    else if (reply?.error) {
      button.removeAttribute("aria-busy");
      toast(reply.error, { problem: true });
    }
    else sendAsPage(data);
  });
  window.addEventListener("pageshow", (event) => event.persisted && button.removeAttribute("aria-busy"));
}

/** What is wrong comes back as a page, with everything that was typed.
 * @param {FormData} data */
function sendAsPage(data) {
  const form = make("form", { method: "post", hidden: true });
  for (const [name, value] of data) form.append(make("textarea", { name }, String(value)));
  document.body.append(form);
  form.submit();
}
