// The solver on the study board: the connection to it, and what it has proven in words.
import { Socket } from "../socket.js";
import { loadSentences, otherSide, percentWords, sideWords, t, tn, winnersMoves } from "../words.js";

/** @typedef {import("../types").StudyMessage} Insight */
/** @typedef {import("../types").MoveValueView} MoveValue */

/** One question at a time, asked again when the connection was lost before the answer was complete. */
export class Analyst {
  /** The question that is not answered yet. @type {string | null} */
  #question = null;

  /** @param {(told: any) => void} onTold @param {(error: import("../server.js").Trouble) => void} onError */
  constructor(onTold, onError) {
    this.onTold = onTold;
    this.onError = onError;
    this.socket = new Socket({
      onOpen: () => this.#question && this.socket.send(this.#question),
      onMessage: (message) => this.#hear(message),
      isNeeded: () => this.#question !== null,
    });
  }

  /** @param {"study" | "review"} type @param {string} line @param {number} [deep] */
  ask(type, line, deep = 0) {
    this.#question = JSON.stringify({ type, line, deep });
    if (!this.socket.send(this.#question)) this.socket.connect();
  }

  stop() {
    this.#question = null;
    this.socket.send('{"type":"stop"}');
  }

  /** The question has its answer, and no other one comes. */
  close() {
    this.#question = null;
    this.socket.close();
  }

  /** What comes after a stop was on its way before. @param {any} message */
  #hear(message) {
    if (this.#question === null) return;
    if (message.type === "error") {
      this.#question = null;
      loadSentences().then(() => this.onError(message));
    } else if (message.type === "study" || message.type === "review") {
      this.socket.succeeded();
      if (message.end) this.#question = null;
      this.onTold(message);
    }
  }
}

/** @typedef {import("../types").WaitMessage} Wait */

/** Say how long the answer takes while others are served. @param {Wait} wait */
export const waitWords = ({ place, seconds: n }) =>
  place > 1
    ? t("The computer is busy with other players. You are number {place} in the queue. It will take about {n} s.", {
        place,
        n,
      })
    : t("The computer is still busy. It will take about {n} s.", { n });

// --- Values --------------------------------------------------------------------------------------

/** @param {MoveValue} move */
export function valueWords({ value, distance, estimate }) {
  if (!value) return estimate === null ? t("not proven yet") : t("about {n}% likely to win", { n: percent(estimate) });
  if (value === "draw") return t("draws");
  if (distance === null) return value === "win" ? t("wins") : t("loses");
  const n = winnersMoves(distance);
  return value === "win" ? t("wins in {n}", { n }) : t("loses in {n}", { n });
}

/** @param {number} chance */
const percent = (chance) => Math.min(99, Math.max(1, Math.round(100 * chance)));

/** @param {MoveValue} move */
function valueSign({ value, distance, estimate }) {
  if (!value) return estimate === null ? "?" : `${percent(estimate)}%`;
  if (value === "draw") return "=";
  return (value === "win" ? "+" : "−") + (distance === null ? "" : winnersMoves(distance));
}

/**
 * The best moves: the quickest of those that win, the longest of those that lose.
 * @param {Insight} insight
 */
export function bestMoves({ value, moves }) {
  if (!value) return [];
  const best = moves[0]?.distance;
  return moves
    .filter((move) => move.value === value && (move.distance === best || move.distance === null))
    .map((move) => move.move);
}

/**
 * What the board shows on the cells.
 * @param {Insight} insight @returns {Record<string, import("../page").MoveMark>}
 */
export function marksOf(insight) {
  const best = bestMoves(insight);
  const mark = (/** @type {MoveValue} */ move) => ({
    kind: move.value ?? /** @type {const} */ ("open"),
    text: valueSign(move),
    words: valueWords(move),
    best: best.includes(move.move),
  });
  return Object.fromEntries(insight.moves.map((move) => [move.move, mark(move)]));
}

/** Say which move looks best as long as nothing is proven. @param {MoveValue[]} moves */
function likelyWords(moves) {
  const [best] = [...moves].sort((one, other) => (other.estimate ?? -1) - (one.estimate ?? -1));
  if (!best || best.estimate === null) return t("Not proven yet.");
  return t("Not proven yet. {move} looks best: {chance} to win.", {
    move: best.move,
    chance: percentWords(best.estimate),
  });
}

/** @param {Insight} insight @param {import("../page").Side} turn */
export function verdictWords({ value, moves }, turn) {
  if (!value) return likelyWords(moves.filter((move) => !move.value));
  if (value === "draw") return t("A draw if both play perfectly.");
  const side = sideWords(value === "win" ? turn : otherSide(turn));
  // The length is known once it is known of every move that keeps the value.
  const isExact = moves.every((move) => move.value !== value || move.distance !== null);
  const distance = isExact ? moves[0]?.distance : null;
  if (!distance) return t("{side} wins if both play perfectly.", { side });
  const n = winnersMoves(distance);
  return tn("{side} wins in {n} move if both play perfectly.", "{side} wins in {n} moves if both play perfectly.", n, {
    side,
  });
}
