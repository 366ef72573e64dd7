// The import page: a file may be dropped anywhere on the form, a copied table may be pasted anywhere on the page, and
// while a sheet is sent and read the page stays, says how far it is, and can end it. Nothing chosen or typed is lost.
import { closest, field, find, findOptional, valueOf } from "./elements.js";
import { showErrors } from "./field_errors.js";

const form = find(document, "form[data-import]", HTMLFormElement);
const [file, ticket] = [field(form, "file"), field(form, "ticket")];
const text = field(form, "text", HTMLTextAreaElement);
const panel = find(form, "[data-reading]");
const bar = find(panel, "progress", HTMLProgressElement);
const button = find(form, "[data-go-on]");
const SHOWN_AFTER = 300; // ms: what is read at once needs no bar
const ASKED_EVERY = 400;

form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("drop-target");
});
form.addEventListener("dragleave", () => form.classList.remove("drop-target"));
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("drop-target");
  if (event.dataTransfer?.files.length) {
    file.files = event.dataTransfer.files;
    file.focus();
  }
});
document.addEventListener("paste", (event) => {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  if (closest(event.target, "input, textarea") || !pasted.includes("\t")) return;
  text.value = pasted;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
});

/** What is wrong, by field. @typedef {Record<string, string[]>} Errors */

const chosen = () => file.files?.[0];

/** The field of the first thing that is larger than any sheet may be, and the sentence about it.
 * @returns {Errors | null} */
function tooLarge() {
  const most = Number(form.dataset.mostBytes);
  const sizes = { file: chosen()?.size ?? 0, text: new Blob([text.value]).size };
  const found = Object.entries(sizes).find(([, bytes]) => bytes > most);
  if (!found) return null;
  const [name, size] = found;
  const [has, may] = [size, most].map((bytes) => (bytes / 2 ** 20).toFixed(1).replace(/\.0$/, ""));
  return { [name]: [`This sheet is ${has} MB; ${may} MB is the most. Leave out columns and worksheets that hold no game data.`] };
}

/** @param {string} what @param {number} share */
function show(what, share) {
  const place = find(panel, "[data-reading-what]");
  if (place.textContent !== what) place.textContent = what;
  if (share > 0) bar.value = share;
  else bar.removeAttribute("value");
}

/** @param {Errors} errors */
function refuse(errors) {
  showErrors(form, errors);
  findOptional(form, '[aria-invalid="true"]')?.focus();
}

/** The field that is filled in. */
const used = () => (chosen() ? "file" : "text");

/** @type {Record<number, string>} */
const failures = {
  0: "The site did not answer. Nothing is lost: press Go on to try again.",
  400: "What the browser sent was incomplete or larger than the site accepts. Nothing is lost: correct it and press Go on.",
  401: "You were signed out. Sign in again in another tab, then press Go on here.",
  403: "The site did not accept this from you. Reload the page, or ask an owner of the project.",
};

/** @param {XMLHttpRequest} request */
function answered(request) {
  const isJson = request.getResponseHeader("Content-Type")?.startsWith("application/json");
  const said = isJson ? JSON.parse(request.responseText) : {};
  if (said.next) {
    form.dispatchEvent(new Event("equipoise:sent", { bubbles: true }));
    location.assign(said.next);
  }
  else if (said.errors) refuse(said.errors);
  else if (request.status === 200) location.assign(request.responseURL); // the project has no game yet
  else refuse({ [used()]: [failures[request.status] ?? failures[0]] });
  return Boolean(said.next);
}

let tries = 0;

function send() {
  const request = new XMLHttpRequest();
  const key = `${ticket.value}-${(tries += 1)}`;
  const address = `${form.dataset.progress}?${new URLSearchParams({ ticket: key })}`;
  const body = new FormData(form);
  body.set("ticket", key);
  let asking = 0;
  const ask = async () => {
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok && asking) show("Reading the cells", (await answer.json()).share);
  };
  const showing = setTimeout(() => (panel.hidden = false), SHOWN_AFTER);
  const end = () => {
    clearTimeout(showing);
    clearInterval(asking);
    asking = 0;
    panel.hidden = true;
    button.removeAttribute("aria-busy");
  };
  const stop = () => {
    const headers = { "X-CSRFToken": valueOf(form, "csrfmiddlewaretoken") };
    fetch(address, { method: "POST", headers }).catch(() => null);
    request.abort();
  };
  request.upload.addEventListener("progress", (event) => show("Sending the sheet", (100 * event.loaded) / event.total));
  request.upload.addEventListener("load", () => {
    show("Reading the cells", 0);
    asking = setInterval(ask, ASKED_EVERY);
  });
  let leaving = false;
  request.addEventListener("load", () => (leaving = answered(request)));
  request.addEventListener("error", () => refuse({ [used()]: [failures[0]] }));
  request.addEventListener("abort", () => button.focus());
  request.addEventListener("loadend", () => {
    find(panel, "[data-reading-stop]").removeEventListener("click", stop);
    if (leaving) clearInterval(asking);
    else end();
  });
  find(panel, "[data-reading-stop]").addEventListener("click", stop);
  show("Sending the sheet", 0);
  button.setAttribute("aria-busy", "true");
  request.open("POST", form.action || location.href);
  request.setRequestHeader("Accept", "application/json");
  request.send(body);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (button.getAttribute("aria-busy") === "true") return;
  const large = tooLarge();
  showErrors(form, large ?? {});
  if (large) refuse(large);
  else send();
});
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  panel.hidden = true;
  button.removeAttribute("aria-busy");
});
