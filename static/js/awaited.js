// A form whose start waits for something that is still being found out, and then starts by itself.
const at = (name) => document.querySelector(`[data-${name}]`);

/** ``id``: the JSON of what Start waits for (field to sentence), on the page once somebody pressed it. */
export function awaited(form, id) {
  let waits = JSON.parse(document.getElementById(id)?.textContent ?? "null");
  const show = () => {
    at("awaited").hidden = !waits;
    at("start").setAttribute("aria-busy", String(Boolean(waits)));
  };
  show();
  return {
    /** Field to sentence; empty while nobody waits. */
    get waits() {
      return waits ?? {};
    },
    /** Whoever changes something, or has something to mend, has not asked for that to be started. */
    forget() {
      waits = null;
      show();
    },
    /** Start again if it waited: it is found out. Whether it did. */
    found() {
      if (!waits) return false;
      waits = null;
      form.requestSubmit();
      return true;
    },
  };
}
