// Plotly comes as one large file. It is asked for at once, but nothing waits for it except what Plotly draws.
import { find } from "../elements.js";

/** @type {Promise<Plotly.Library> | null} */
let ready = null;

export function plotly() {
  ready ??= new Promise((resolve, reject) => {
    const failed = () => reject(new Error("The charts could not be loaded."));
    const loaded = () => (window.Plotly ? resolve(window.Plotly) : failed());
    if (window.Plotly) return loaded();
    const script = find(document, "#plotly-script");
    script.addEventListener("load", loaded);
    script.addEventListener("error", failed);
    return undefined;
  });
  return ready;
}
