// Plotly comes as one large file. It is asked for at once, but nothing waits for it except what Plotly draws.
let ready = null;

export function plotly() {
  ready ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    const script = document.getElementById("plotly-script");
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("The charts could not be loaded.")));
    return undefined;
  });
  return ready;
}
