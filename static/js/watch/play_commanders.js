// A person commands a team of herobattle against a saved agent, here in the page: the person on the left, the agent on
// the right. Orders are given by pointer or keyboard and stay in force until others are given. Nothing of it is stored.
import { percent } from "../charts/format.js";
import { closest, embedded, find, findAll } from "../elements.js";
import * as commanders from "./commanders.js";
import { farther, PlayButton, speeds } from "./controls.js";
import { Hands } from "./hands.js";
import { Battle } from "./herobattle/battle.js";
import { LIFE, ORDERS, STUNNED } from "./herobattle/layout.js";
import { labels, moment, seen } from "./herobattle/sight.js";
import { drawTeams } from "./herobattle/teams.js";
import { fetched, parts } from "./network.js";
import { paint, rowAt } from "./scene.js";
import { anySeed, stream } from "./splitmix.js";
/** @import { Network } from "./network.js" */
/** @import { Tables, Team } from "./herobattle/teams.js" */

/** What the page says of the agent and its game: `every` so many ticks there are new orders, `pace` ticks pass in a second,
 * `same`: both sides lead the same team; `words` of each choice of each part of an order; `texts` of the pieces; `delay` and
 * `apart` are the agent's limits (hands.js).
 * @type {{ weights: string, activation: string, input: string, sampled: boolean, name: string, delay: number, apart: number,
 * every: number, pace: number, same: boolean, words: string[][], texts: string[], tables: Tables }} */
const agent = embedded("play-agent");
const [YOU, AGENT] = [0, 1];
const MOST_AT_ONCE = 3; // ticks: after a pause of the browser the battle does not leap
const FOUGHT_BY_ITSELF = new Array(ORDERS).fill(0);
const NAMES = 6; // of a side, in the labels: hero, skill, two pieces of equipment, first and second soldiers

/** @param {HTMLElement} element @param {string} words */
function say(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** "Frost Captain with Comet Volley, Warhorn and Coil Bow; Pikes ×5 and Bows ×2".
 * @param {Team} team @param {string[]} names of the side */
function teamWords(team, [hero, skill, one, other, first, second]) {
  const more = second ? ` and ${second} ×${team[7]}` : "";
  return `${hero} with ${skill}, ${one} and ${other}; ${first} ×${team[5]}${more}`;
}

class Match {
  /** @param {HTMLElement} stage @param {Network} network */
  constructor(stage, network) {
    this.network = network;
    this.stage = stage;
    this.canvas = find(stage, "canvas", HTMLCanvasElement);
    this.button = new PlayButton(stage, "[data-begin]", () => this.toggle());
    this.speed = speeds(stage, this.button.element);
    this.far = farther(stage, () => this.draw());
    this.points = find(stage, "[data-points]");
    this.words = find(stage, "[data-commentary]");
    this.bar = find(stage, "[data-moment]", HTMLInputElement);
    this.choices = findAll(stage, "[data-order]", HTMLButtonElement);
    this.theirs = findAll(stage, "[data-agent-order]");
    this.again = find(stage, "[data-again='same']", HTMLButtonElement);
    this.others = find(stage, "[data-again='others']", HTMLButtonElement);
    /** @type {[Team, Team]} */
    this.teams = drawTeams(anySeed(), agent.same, agent.tables);
    this.names = labels(this.teams, agent.tables.names);
    this.order = FOUGHT_BY_ITSELF;
    this.battle = this.fresh();
    this.hands = new Hands(agent, FOUGHT_BY_ITSELF);
    this.rows = [moment(this.battle)];
    this.at = 0;
    this.playing = false;
    this.before = 0;
    this.listen();
    this.begin();
  }

  listen() {
    this.again.addEventListener("click", () => this.begin());
    this.others.addEventListener("click", () => {
      this.teams = drawTeams(anySeed(), agent.same, agent.tables);
      this.begin();
    });
    this.stage.addEventListener("click", (event) => {
      const pressed = closest(event.target, "[data-order]", HTMLButtonElement);
      if (!pressed) return;
      this.give(pressed);
      if (event.detail > 0) this.button.element.focus({ preventScroll: true }); // a pointer leaves the keyboard where it plays
    });
    this.bar.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.bar.value));
    });
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("equipoise:theme", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** A battle of these teams with luck of its own. */
  fresh() {
    const luck = anySeed();
    return new Battle(agent.tables, this.teams, [YOU, AGENT].map((side) => stream(luck, side)));
  }

  /** Everything as before the first tick. */
  begin() {
    this.names = labels(this.teams, agent.tables.names);
    this.order = FOUGHT_BY_ITSELF;
    this.battle = this.fresh();
    this.hands = new Hands(agent, FOUGHT_BY_ITSELF);
    this.network.forget();
    this.rows = [moment(this.battle)];
    this.at = 0;
    this.playing = false;
    this.button.name("Begin", false);
    this.bar.hidden = true;
    this.again.hidden = true;
    this.others.hidden = false;
    this.words.textContent = "";
    this.introduce();
    this.show(0);
    this.button.element.focus({ preventScroll: true });
  }

  /** Who is on the field, and which orders there are: a team with one kind of soldiers has none for a second one. */
  introduce() {
    const [own, theirs] = [this.names.slice(0, NAMES), this.names.slice(NAMES)];
    const [, skill, , , first, second] = own;
    findAll(this.stage, "[data-team]").forEach((line, side) => say(line, teamWords(this.teams[side], side === YOU ? own : theirs)));
    [first, second].forEach((name, i) => say(find(this.stage, `[data-soldiers="${i + 1}"]`), name));
    say(find(this.stage, "[data-skill-name]"), skill);
    say(find(this.stage, "[data-skill-text]"), agent.texts[this.teams[YOU][1]]);
    find(this.stage, "[data-second]").hidden = !second;
    [theirs[4], theirs[5]].forEach((name, i) => say(find(this.stage, `[data-agent-soldiers="${i + 1}"]`), name));
    say(find(this.stage, "[data-agent-skill]"), theirs[1]);
    find(this.stage, "[data-agent-second]").hidden = !theirs[5];
  }

  get last() {
    return this.rows.length - 1;
  }

  /** Whether the battle is over and was seen to its end. */
  get ended() {
    return !this.bar.hidden;
  }

  toggle() {
    if (this.playing) {
      this.pause();
      return;
    }
    if (this.ended && this.at >= this.last) this.at = 0;
    this.playing = true;
    this.button.name("Pause", true);
    this.again.hidden = this.others.hidden = true;
    this.before = performance.now();
    requestAnimationFrame((now) => this.step(now));
  }

  pause() {
    this.playing = false;
    this.button.name(!this.ended ? "Go on" : this.at < this.last ? "Go on watching" : "Watch it from the start", false);
    this.again.hidden = this.others.hidden = false;
  }

  /** An order is in force from the next decision on.
   * @param {HTMLButtonElement} choice */
  give(choice) {
    if (this.ended) return;
    const part = Number(choice.dataset.order);
    this.order = this.order.with(part, Number(choice.dataset.choice));
    this.showOrders();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("select, textarea, input, [role=dialog]")) return;
    const digit = /^Digit(\d)$/.exec(event.code)?.[1]; // some keyboards have digits under Shift
    const key = digit ?? event.key.toLowerCase();
    const choice = this.choices.find(({ dataset }) => dataset.key === key);
    if (choice) this.give(choice);
    else if (key === " " && !target.closest("button, a, summary")) this.toggle();
    else return;
    event.preventDefault();
  }

  /** One tick; where new orders are due, the person's and the agent's. */
  fight() {
    const { battle } = this;
    if (battle.tick % agent.every === 0) {
      const numbers = this.network.numbers(seen(battle, AGENT));
      const wanted = parts(numbers, agent.words.map(({ length }) => length), agent.sampled);
      battle.obey([this.order, this.hands.do(wanted)]);
    }
    battle.fight();
    this.rows.push(moment(battle));
  }

  /** @param {number} now */
  step(now) {
    if (!this.playing) return;
    const passed = (Math.max(0, now - this.before) / 1000) * agent.pace * this.speed();
    this.before = now;
    const wanted = this.at + Math.min(passed, MOST_AT_ONCE * Math.max(1, this.speed()));
    while (this.last < wanted && !this.battle.over) this.fight();
    this.show(Math.min(wanted, this.last));
    if (this.at < this.last || !this.battle.over) requestAnimationFrame((later) => this.step(later));
    else this.end();
  }

  end() {
    if (!this.ended) {
      this.bar.max = String(this.last);
      this.bar.value = this.bar.max;
      this.bar.hidden = false;
      this.words.textContent = this.result();
    }
    this.pause();
    this.showOrders();
  }

  /** Who won, and by how much. */
  result() {
    const { battle } = this;
    const [own, theirs] = [YOU, AGENT].map((side) => battle.strength(side));
    const left = (/** @type {number} */ share) => (share > 0 ? percent(share, 0) : "none");
    const how = `Your team has ${left(own)} of its life left, ${agent.name}’s ${left(theirs)}.`;
    const time = battle.sides.every(({ alive }) => alive > 0) ? "The time is over. " : "";
    const who = battle.winner === YOU ? "You won." : battle.winner === AGENT ? `${agent.name} won.` : "Nobody won.";
    return `${time}${who} ${how}`;
  }

  /** @param {number} at a tick */
  show(at) {
    this.at = at;
    const whole = Math.floor(at);
    if (this.ended) {
      this.bar.value = String(whole);
      this.bar.setAttribute("aria-valuetext", `Tick ${whole} of ${this.last}: ${commanders.points(this.rows[whole])}`);
    }
    this.showOrders();
    this.draw();
  }

  /** What both sides are told: the person's last orders, or those of the moment that is watched. */
  showOrders() {
    const row = this.rows[Math.min(Math.ceil(this.at), this.last)];
    const [own, theirs] = [YOU, AGENT].map((side) => commanders.side(row, side).slice(2));
    const given = this.ended ? own : this.order;
    for (const choice of this.choices) {
      const pressed = String(given[Number(choice.dataset.order)] === Number(choice.dataset.choice));
      if (choice.getAttribute("aria-pressed") !== pressed) choice.setAttribute("aria-pressed", pressed);
      choice.setAttribute("aria-disabled", String(this.ended));
    }
    this.theirs.forEach((line, part) => say(line, agent.words[part][theirs[part]]));
    say(find(this.stage, "[data-skill]"), this.ended ? "" : this.skill());
  }

  /** Whether the person's hero can use the skill. */
  skill() {
    const { tick, units, sides: { [YOU]: own } } = this.battle;
    if (units[LIFE] <= 0) return "Your hero has fallen.";
    if (tick < own.ready) return `Ready in ${Math.ceil((own.ready - tick) / agent.pace)} s.`;
    return tick <= units[STUNNED] ? "Your hero is stunned." : "Ready.";
  }

  draw() {
    const row = rowAt(commanders, this.rows, this.at);
    const scene = { scenery: [], rows: this.rows, whole: Math.floor(this.at), labels: this.names, far: this.far() };
    if (paint(this.canvas, commanders, row, scene)) this.points.textContent = commanders.points(row);
  }
}

async function open() {
  const stage = find(document, "[data-play-stage]");
  const network = await fetched(agent, find(stage, "[data-trouble]"));
  if (network) new Match(stage, network).button.element.disabled = false;
}

void open();
