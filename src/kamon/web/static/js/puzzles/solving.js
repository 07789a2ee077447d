// One puzzle on the board: the moves that were found, what comes of each try, and help.
import { boardIn, playSound } from "../parts.js";
import { ask } from "../server.js";
import { announce, isStill, preferences } from "../shell.js";
import { errorWords, moveWords, otherSide, sideWords, t } from "../words.js";
import { themeHint, wrongWords } from "./sayings.js";

/** @typedef {import("../types").BoardView} Board */
/** @typedef {import("../types").PuzzleView} Puzzle */
/** @typedef {import("../types").MissedView} Missed */
/** @typedef {import("../types").MoveView} Move */
/** @typedef {import("../page").Side} Side */
/** What is said about the last move. @typedef {{kind: "good" | "wrong" | "hint", say: () => string}} Answer */

/** Long enough to see one's own stone before the reply comes. */
const STONE_TIME = 700;

const pause = () => new Promise((resolve) => setTimeout(resolve, isStill() ? 0 : STONE_TIME));

/** A puzzle, or a position of one's own game, that somebody is solving. */
export class Solving {
  /** The right moves so far. @type {string[]} */
  found = [];
  /** Of each of them: was it found at the first try, without its place being shown? @type {boolean[]} */
  firstTries = [];
  #stumbled = false;
  /** Has somebody come back to a puzzle that they had missed? */
  #isRetry;
  /** @type {Board} */
  board;
  /** What the last try has shown, until it is taken back. @type {Board | null} */
  shown = null;
  /** @type {Answer | null} */
  answer = null;
  /** The cells that help has marked. @type {string[]} */
  marked = [];
  /** How many steps of help were given for this move. */
  hints = 0;
  /** How the first try has ended. @type {"solved" | "missed" | null} */
  result = null;
  done = false;
  busy = false;
  error = "";
  /** What the puzzle has done to the rating, if it counted. @type {number | null} */
  change = null;
  /** @type {Move["solution"]} */
  solution = null;

  /**
   * @param {Puzzle | Missed} task
   * @param {object} owner
   * @param {() => void} owner.onChange
   * @param {(move: Partial<Move>) => void} [owner.onJudged] Called when a try has ended, right or wrong, or by help.
   * @param {HTMLElement} owner.root
   * @param {boolean} [owner.run] Does the clock run?
   */
  constructor(task, { onChange, onJudged, root, run = false }) {
    this.task = task;
    this.board = task.board;
    this.side = /** @type {Side} */ (task.side);
    this.onChange = onChange;
    this.onJudged = onJudged;
    this.root = root;
    this.run = run;
    if ("result" in task) this.result = task.result;
    this.#isRetry = this.result === "missed";
  }

  /** The address that judges, and what it is told. @param {string} cell */
  #question(cell) {
    const { task } = this;
    if ("game" in task) return ask(`/api/puzzles/missed/${task.game}`, { cell });
    return ask(`/api/puzzles/${task.id}/moves`, { moves: [...this.found, cell], run: this.run });
  }

  /** May a stone be put down now? */
  get isOpen() {
    return !(this.busy || this.done || this.shown);
  }

  /** Try a move. @param {string} cell */
  async play(cell) {
    if (!this.isOpen) return;
    Object.assign(this, { busy: true, answer: null, error: "", marked: [] });
    this.onChange();
    try {
      await this.#show(cell, await this.#question(cell));
    } catch (problem) {
      this.error = errorWords(/** @type {any} */ (problem));
    }
    this.busy = false;
    this.onChange();
  }

  /** @param {string} cell @param {Move} move */
  async #show(cell, move) {
    const before = this.board;
    this.#put(move.board, "mine");
    if (move.right) this.#find(cell);
    else this.#stumbled = true;
    if (move.after) {
      await pause();
      this.#put(move.after, "theirs");
    }
    if (move.right) this.#goOn(before, cell, move);
    else this.#miss(move);
  }

  /** @param {string} cell The right move. */
  #find(cell) {
    this.found.push(cell);
    this.firstTries.push(!(this.#isRetry || this.#stumbled) && this.hints < 2);
    this.#stumbled = false;
  }

  /** @param {Board} board @param {"mine" | "theirs"} sound */
  #put(board, sound) {
    this.shown = board;
    const element = boardIn(this.root);
    if (element) element.landed = board.last;
    playSound(sound);
    this.onChange();
  }

  /** @param {Board} before @param {string} cell @param {Move} move */
  #goOn(before, cell, move) {
    this.board = move.after ?? move.board;
    this.shown = null;
    this.hints = 0;
    if (move.done) this.#finish(before, cell, move);
    else {
      this.answer = { kind: "good", say: () => t("Right! Go on.") };
      const reply = move.reply && moveWords(move.board, move.reply, preferences.edition);
      const other = sideWords(otherSide(this.side));
      announce(`${t("Right! Go on.")} ${t("{side} plays {reply}.", { side: other, reply: reply ?? "" })}`);
    }
  }

  /** @param {Board} before @param {string} cell @param {Move} move */
  #finish(before, cell, move) {
    this.done = true;
    this.#note(move, "solved");
    if ("game" in this.task)
      this.answer = {
        kind: "good",
        say: () => t("Yes: {move}.", { move: moveWords(before, cell, preferences.edition) }),
      };
    playSound("end");
    announce(this.answer?.say() ?? (this.result === "solved" ? t("Solved!") : t("That’s it.")));
    this.onJudged?.(move);
  }

  /** @param {Move} move */
  #miss(move) {
    this.#note(move, "missed");
    this.answer = { kind: "wrong", say: () => wrongWords(move, this.side, preferences.edition) };
    announce(this.answer.say());
    this.onJudged?.(move);
  }

  /**
   * Only the first try counts.
   * @param {Partial<Pick<Move, "change" | "solution" | "result">>} told What the server knows of it.
   * @param {"solved" | "missed"} result What it looks like here.
   */
  #note({ change, solution, result: counted }, result) {
    this.result = counted ?? this.result ?? result;
    if (change !== null && change !== undefined) this.change = change;
    if (solution) this.solution = solution;
  }

  /** Take back a wrong move. */
  takeBack() {
    this.shown = null;
    this.answer = null;
    const element = boardIn(this.root);
    if (element) element.landed = null;
    this.onChange();
  }

  /** Ask for the next step of help. */
  async help() {
    const { task } = this;
    if (this.busy || this.done || "game" in task) return;
    this.busy = true;
    this.takeBack();
    const step = Math.min(3, this.hints + 1);
    try {
      const hint = await ask(`/api/puzzles/${task.id}/hints`, { moves: this.found, step });
      this.hints = step;
      this.marked = hint.cells;
      if (step > 1) {
        this.#note(hint, "missed");
        this.onJudged?.(hint);
      }
      this.answer = { kind: "hint", say: () => this.#hintWords(hint, step) };
      announce(this.answer.say());
    } catch (problem) {
      this.error = errorWords(/** @type {any} */ (problem));
    }
    this.busy = false;
    this.onChange();
    if (step === 3) boardIn(this.root)?.focusCell(this.marked[0]);
  }

  /** @param {{themes: string[], cells: string[]}} hint @param {number} step */
  #hintWords({ themes, cells }, step) {
    if (step === 1) return themes.map(themeHint).join(" ");
    const words = cells.map((cell) => moveWords(this.board, cell, preferences.edition));
    if (words.length === 1) return t("Play {move}.", { move: words[0] });
    return t("It is {one} or {other}.", { one: words[0], other: words[1] });
  }
}
