// A person plays Connect Four against a saved agent, here in the page: seven buttons, one for each column, by pointer or
// keyboard. Nothing of it is stored.
import { embedded, find, findAll } from "../elements.js";
import { Board, ROWS } from "./four_rules.js";
import { best, drawn, fetched } from "./network.js";
/** @import { Network } from "./network.js" */

/** What the page says of the agent.
 * @type {{ weights: string, activation: string, input: string, sampled: boolean, name: string }} */
const agent = embedded("play-agent");
const YOU = 0;
const WHOSE = ["yours", "the agent’s"];

class Match {
  /** @param {HTMLElement} stage @param {Network} network */
  constructor(stage, network) {
    this.network = network;
    this.board = new Board();
    this.columns = findAll(stage, "[data-column]", HTMLButtonElement);
    this.cells = findAll(stage, "[data-cell]");
    this.words = find(stage, "[data-commentary]");
    this.first = YOU; // whoever begins; the other one begins the next battle
    this.columns.forEach((button, column) => button.addEventListener("click", () => this.play(column)));
    this.again = find(stage, "[data-again]", HTMLButtonElement);
    this.again.addEventListener("click", () => this.begin());
    this.begin();
  }

  begin() {
    this.board = new Board();
    this.network.forget();
    if (this.first === YOU) this.say("You begin: choose a column.");
    else this.answer("");
    this.show();
  }

  /** Side 0 of the board is whoever began. @param {number} who */
  side(who) {
    return who === this.first ? 0 : 1;
  }

  /** @param {number} column */
  play(column) {
    if (this.board.over() || !this.board.free()[column]) return;
    this.board.drop(column);
    if (!this.board.over()) this.answer(`You chose column ${column + 1}. `);
    this.show();
  }

  /** The agent's turn; a full column is forbidden to it, as it was when it learned.
   * @param {string} before what happened before */
  answer(before) {
    const free = this.board.free();
    const numbers = this.network.numbers(this.board.seen(this.side(1 - YOU))).map((x, i) => (free[i] ? x : -Infinity));
    const column = agent.sampled ? drawn(numbers, Math.random()) : best(numbers);
    this.board.drop(column);
    this.say(`${before}${agent.name} chose column ${column + 1}.`);
  }

  show() {
    const { board } = this;
    const free = board.free();
    this.cells.forEach((cell) => {
      const side = board.cells[Number(cell.dataset.cell)];
      const who = side < 0 ? -1 : side === this.side(YOU) ? 0 : 1;
      cell.dataset.of = String(who);
    });
    this.columns.forEach((button, column) => {
      button.disabled = board.over() || !free[column];
      button.setAttribute("aria-label", `Column ${column + 1}: ${this.inWords(column)}`);
    });
    this.again.hidden = !board.over();
    if (board.over()) this.end();
  }

  /** What lies in a column, from the bottom.
   * @param {number} column */
  inWords(column) {
    const discs = this.board.cells.slice(column * ROWS, (column + 1) * ROWS).filter((side) => side >= 0);
    return discs.length ? discs.map((side) => WHOSE[side === this.side(YOU) ? 0 : 1]).join(", ") : "empty";
  }

  end() {
    const { winner } = this.board;
    this.say(winner < 0 ? "Nobody won: the board is full." : winner === this.side(YOU) ? "You won: four in a line." : `${agent.name} won: four in a line.`);
    this.first = 1 - this.first;
    this.again.focus({ preventScroll: true });
  }

  /** @param {string} words */
  say(words) {
    this.words.textContent = words;
  }
}

async function open() {
  const stage = find(document, "[data-play-stage]");
  const network = await fetched(agent, find(stage, "[data-trouble]"));
  if (network) new Match(stage, network);
}

void open();
