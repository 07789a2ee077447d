// A hint: what the engine has found out about the position on the board, and no more than that. Loaded when asked for.
import { Analyst, bestMoves, waitWords } from "../study/engine.js";
import { moveWords, t, tn, winnersMoves } from "../words.js";

/** @typedef {import("../types").StudyMessage} Insight */
/** @typedef {import("../types").MoveValueView} MoveValue */
/** @typedef {import("../types").BoardView} Board */
/** @typedef {import("../page").EditionName} EditionName */
/** @typedef {{words: string, cell: string}} Advice */

/** So many milliseconds the engine may think. */
const PATIENCE = 4000;

/** An estimate in per cent, which is never quite sure. @param {number} chance */
const percent = (chance) => Math.min(99, Math.max(1, Math.round(100 * chance)));

/**
 * Say which move to play, and what is known about it.
 * @param {Pick<Insight, "value" | "moves">} insight @param {Board} board @param {EditionName} edition
 * @returns {Advice | null} Null if nothing is known.
 */
export function adviceOn({ value, moves }, board, edition) {
  const isOpen = value === null || value === undefined;
  const best = isOpen
    ? bestGuess(moves)
    : moves.find((move) => move.move === bestMoves(/** @type {Insight} */ ({ value, moves }))[0]);
  if (!best) return null;
  const others = moves.filter((move) => move !== best);
  const parts = [isOpen ? guessWords(best, board, edition) : provenWords(best, others, board, edition)];
  if (!others.length) parts.push(t("It is the only move you have."));
  else if (best.value !== "loss" && others.every((move) => move.value === "loss"))
    parts.push(t("Every other move loses."));
  return { words: parts.join(" "), cell: best.move };
}

/** The move that looks best among those that are not proven to lose. @param {MoveValue[]} moves */
function bestGuess(moves) {
  const left = moves.filter((move) => move.value !== "loss" && (move.value !== null || move.estimate !== null));
  const worth = (/** @type {MoveValue} */ move) => (move.value === "draw" ? 0.5 : (move.estimate ?? 1));
  return left.sort((one, other) => worth(other) - worth(one))[0];
}

/** @param {MoveValue} best @param {MoveValue[]} others @param {Board} board @param {EditionName} edition */
function provenWords(best, others, board, edition) {
  const names = { move: moveWords(board, best.move, edition) };
  if (best.value === "win") {
    if (best.distance === null) return t("Play {move}: that wins.", names);
    const n = winnersMoves(best.distance);
    return tn("Play {move}: that wins in {n} move.", "Play {move}: that wins in {n} moves.", n, names);
  }
  if (best.value === "draw") return t("Play {move}: that keeps the draw.", names);
  const measured = best.distance !== null && others.every((move) => move.distance !== null);
  return measured
    ? t("Every move loses if your opponent plays perfectly. You last longest with {move}.", names)
    : t("Every move loses if your opponent plays perfectly. You could try {move}.", names);
}

/** @param {MoveValue} best @param {Board} board @param {EditionName} edition */
function guessWords(best, board, edition) {
  const move = moveWords(board, best.move, edition);
  if (best.value === "draw") return t("Play {move}: that keeps at least a draw.", { move });
  const n = percent(best.estimate ?? 0);
  return t("Best guess: {move}, about {n}% likely to win. That is only an estimate.", { move, n });
}

/**
 * Let the engine think about a position for a few seconds.
 * @param {string} line
 * @param {(words: string) => void} onWait Hears how long it takes while others are served.
 * @returns {Promise<Insight | null>} What it knows by then.
 */
export function think(line, onWait) {
  return new Promise((resolve, reject) => {
    /** @type {Insight | null} */
    let found = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let limit;
    const finish = () => {
      clearTimeout(limit);
      analyst.close();
      resolve(found);
    };
    const analyst = new Analyst(
      (told) => {
        if (told.line !== line) return;
        if (told.waiting) onWait(waitWords(told));
        // While others are served, or the engine starts, the time does not run.
        if (told.moves) {
          limit ??= setTimeout(finish, PATIENCE);
          found = told;
        }
        if (told.end || isSettled(found)) finish();
      },
      (error) => {
        analyst.close();
        reject(error);
      },
    );
    analyst.ask("study", line);
  });
}

/** Is the value proven, and how soon a win comes? @param {Insight | null} insight */
const isSettled = (insight) =>
  Boolean(insight?.value && (insight.value !== "win" || insight.moves[0]?.distance !== null));
