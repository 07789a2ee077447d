// A position to try again: what can be reached there, and whether the visitor has found how. Loaded with such a game.
import { t } from "../words.js";
import { think } from "./hint.js";

/** @typedef {import("../types").RoomView} RoomView */
/** @typedef {{game: string, ply: number, value: "win" | "draw", better: string}} Task */

const STORAGE_KEY = "kamon-goal";

/**
 * Remember for the page of a new game what is to be found there.
 * @param {string} game @param {import("../types").TurnView} turn
 */
export function keepGoal(game, { ply, before, better }) {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ game, ply, value: before, better }));
  } catch {
    // Without storage the game can be played all the same.
  }
}

/** What is to be found in a game, if anything. @param {string} game @returns {Task | null} */
function taskOf(game) {
  try {
    const task = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "null");
    return task?.game === game ? task : null;
  } catch {
    return null;
  }
}

export class Goal {
  words = "";
  /** The move that the words are about, if one has been played. @type {string | undefined} */
  #judged;

  /** @param {Task} task @param {() => void} onChange */
  constructor(task, onChange) {
    this.task = task;
    this.onChange = onChange;
  }

  /** The goal of a game, if it has one. @param {string} game @param {() => void} onChange */
  static of(game, onChange) {
    const task = taskOf(game);
    return task && new Goal(task, onChange);
  }

  /** Look at the first move after the position to try again. @param {RoomView} room */
  see(room) {
    const move = room.moves[this.task.ply];
    if (this.words && move === this.#judged) return;
    this.#judged = move;
    if (move) this.#judge(room, move);
    else
      this.#say(
        this.task.value === "win" ? t("You can win here. Find the move.") : t("You can draw here. Find the move."),
      );
  }

  /** @param {string} words */
  #say(words) {
    this.words = words;
    this.onChange();
  }

  /** @param {RoomView} room @param {string} move */
  async #judge(room, move) {
    const kept = move === this.task.better || (await this.#keeps(room, move));
    if (move !== this.#judged) return;
    if (kept === null) this.#say(t("This move is too hard to check. Play on and see."));
    else if (kept)
      this.#say(
        this.task.value === "win" ? t("That’s it! Now you are winning.") : t("That’s it! Now the draw is safe."),
      );
    else this.#say(t("Not this one. Take it back and try again, or play on."));
  }

  /** Does a move reach the goal? Null if it cannot be proven soon. @param {RoomView} room @param {string} move */
  async #keeps(room, move) {
    const { outcome } = room.board;
    if (room.moves.length === this.task.ply + 1 && outcome)
      return outcome.winner !== null || this.task.value === "draw";
    this.#say(t("One moment…"));
    const line = [room.layout, ...room.moves.slice(0, this.task.ply), move].join(" ");
    const found = await think(line, (words) => move === this.#judged && this.#say(words)).catch(() => null);
    // The value is the opponent's, whose turn it is.
    if (!found?.value) return null;
    return found.value === "loss" || (found.value === "draw" && this.task.value === "draw");
  }
}
