// A page that is left ends what it was still asking for. That is no error, so the console does not hear of it.
export function watchLeaving() {
  /** @type {Set<XMLHttpRequest>} */
  const going = new Set();
  document.addEventListener("htmx:beforeSend", ({ detail }) => going.add(detail.xhr));
  document.addEventListener("htmx:afterRequest", ({ detail }) => going.delete(detail.xhr));
  window.addEventListener("pagehide", () => {
    for (const request of going) request.onabort = request.onerror = null;
  });
}
