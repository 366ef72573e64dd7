// The warnings above what a job found: the site words and sorts them, so they are asked for anew when there may be others.
import { at } from "./state.js";
/** @import { JobEvent } from "./state.js" */

let due = false;

/** @param {JobEvent} event */
export function heed(event) {
  // What was dealt with is no warning any more once the job has ended.
  due ||= Boolean(event.serious || event.note || event.status);
}

export function showWarned() {
  if (due) window.htmx.trigger(at("warned"), "warned");
  due = false;
}
