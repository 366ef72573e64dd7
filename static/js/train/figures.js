// The figures of a training's page, written into the server's markup.
import { decimals, plural, progress, whole } from "../charts/format.js";
import { make } from "../elements.js";
import { placeBeam, placeTimes, showState, sparkline, COMMANDED } from "../job/head.js";
import { ending } from "../job/ending.js";
import { speeds, speedText } from "../job/pace.js";
import { at, done, ended, page, rounds, state } from "../job/state.js";

/** @param {number} value */
const rounded = (value) => (value >= 1000 ? Math.round(value / 100) * 100 : value);
/** Digits after the point that a return is worth.
 * @param {number} value */
const digits = (value) => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
/** @param {number} value */
export const shown = (value) => decimals(value, digits(value));
let policy = page.policies[0] ?? ""; // whose numbers are shown, where several agents learn
/** The name of a number of the agent that is shown; numbers of all of them together have plain names.
 * @param {string} name */
const own = (name) => (policy && !(name in rounds) ? `${policy}/${name}` : name);
/** A number of every round, null where a round did not tell it.
 * @param {string} name @returns {(number | null)[]} */
export const column = (name) => rounds[own(name)] ?? rounds.tick.map(() => null);
/** The numbers that the agent that is shown has, or all have together. */
export const numberNames = () => Object.keys(rounds).map((name) => (policy && name.startsWith(`${policy}/`) ? name.slice(policy.length + 1) : name)).filter((name) => !name.includes("/"));

/** A switch between the agents where several learn.
 * @param {() => void} changed */
export function policies(changed) {
  const place = at("policies");
  place.hidden = !policy;
  if (!policy || place.children.length) return;
  place.replaceChildren(
    ...page.policies.map((name) => {
      const button = make("button", { type: "button" }, name);
      button.setAttribute("aria-pressed", String(name === policy));
      button.addEventListener("click", () => {
        policy = name;
        for (const other of place.children) other.setAttribute("aria-pressed", String(other === button));
        changed();
      });
      return button;
    }),
  );
}

/** The last value of a column that a round told, and its round; null where none did.
 * @param {string} name @returns {[value: number, round: number] | null} */
export function latest(name) {
  const values = column(name);
  for (let i = values.length - 1; i >= 0; i -= 1) {
    const value = values[i];
    if (value !== null) return [value, i];
  }
  return null;
}

function busy() {
  if (COMMANDED[state.command]) return COMMANDED[state.command];
  if (!page.moving) return state.tick ? "starting its samplers again" : "getting ready";
  return state.counters.steps ? "playing and learning" : "making its first decisions";
}

const whose = () => (policy ? `${policy}: ` : "");

function showExamined() {
  const found = latest("evaluation_return");
  const last = ended() && found && found[1] === rounds.tick.length - 1 && state.status === "finished";
  at("examined-name").textContent = last ? "Final evaluation" : "Last evaluation";
  if (!found) {
    at("examined").textContent = "–";
    at("examined-note").textContent = ended() ? "ended before its first one" : "the first one is still to come";
    return;
  }
  const [value, i] = found;
  const [low, high] = ["low", "high"].map((end) => column(`evaluation_return_${end}`)[i]);
  const known = low !== null && high !== null;
  at("examined").replaceChildren(shown(value), ...(known ? [make("span", { class: "aside" }, `${shown(low)} to ${shown(high)}`)] : []));
  const range = known ? "range if no episode goes far beyond these" : "range not known";
  at("examined-note").textContent = `${whose()}${range}, ${plural(page.episodes, "episode")} on fresh seeds${last ? "" : `, round ${whole(rounds.tick[i])}`}`;
}

function showAge() {
  const mean = latest("staleness_mean");
  const most = latest("staleness_max");
  at("age").textContent = mean ? decimals(mean[0], page.in_step ? 0 : 1) : "–";
  if (mean && page.in_step) {
    at("age-note").textContent = "update behind, as samplers wait for each";
    return;
  }
  at("age-note").textContent = most ? `${mean?.[0] === 1 ? "update" : "updates"} behind, ${whole(most[0])} at most` : "updates behind, on average";
}

function showSpeed() {
  const { steps = 0, seconds = 0 } = state.counters;
  const counted = { times: rounds.seconds, counts: rounds.steps, total: steps, seconds, took: state.took };
  const [pace, what] = speedText("decisions", state.status === "running", counted);
  at("speed").textContent = pace ? whole(rounded(pace)) : "–";
  at("speed-note").textContent = what;
  sparkline(pace ? speeds(rounds.seconds, rounds.steps) : []);
  at("steps").textContent = whole(steps);
  const minutes = page.minutes ? `${decimals(page.minutes, Number.isInteger(page.minutes) ? 0 : 1)}\u00a0min` : "";
  const more = page.steps && steps > page.steps ? ": the last batch is learned from as a whole" : "";
  at("of").textContent = `of ${[page.steps ? whole(page.steps) : "", minutes].filter(Boolean).join(", or ")}${more}`;
}

function showReturn() {
  const found = latest("return");
  at("return").textContent = found ? shown(found[0]) : "–";
  at("return-note").textContent = found ? `${whose()}mean of round ${whole(rounds.tick[found[1]])}, while exploring` : "no episode has ended yet";
}

function showTake() {
  at("take").hidden = !state.tick;
  at("take").classList.toggle("btn-primary", state.status !== "paused");
  at("take-policy").hidden = !state.tick;
  const onnx = at("take-onnx", HTMLAnchorElement);
  if (policy) onnx.href = `${onnx.href.split("?")[0]}?of=${policy}`;
  at("take-curve").hidden = !state.tick;
  onnx.hidden = !["finished", "stopped"].includes(state.status) || !state.tick;
  if (page.teams.length) {
    const members = at("take-members", HTMLAnchorElement);
    members.hidden = onnx.hidden || !page.teams.includes(policy);
    if (policy) members.href = `${members.href.split("?")[0]}?of=${policy}`;
  }
}

export function showFigures() {
  showState("Round", busy());
  const share = done();
  placeBeam(share, progress(share));
  placeTimes(ending());
  showSpeed();
  showReturn();
  showExamined();
  showAge();
  showTake();
}
