// What a running job was asked to do, beside its buttons: a sign in words, which screen readers are told of.
import { find } from "../elements.js";

/** The buttons in the head of a job's page, and the sign, as the job is now.
 * @param {string} status @param {string} command what was asked of it: "stop", "pause" or nothing */
export function showCommand(status, command) {
  const actions = find(document, "[data-job-actions]");
  Object.assign(actions.dataset, { status, command });
  const sign = find(actions, "[data-commanded]");
  const words = status === "running" ? (sign.dataset[command] ?? "") : "";
  if (sign.textContent !== words) sign.textContent = words;
}
