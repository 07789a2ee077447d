// What decided a game, said to one of its players: a title, a sentence or two, and the move that it was about.
import { moveNumber, sideAt } from "../cells.js";
import { nameWords, otherSide, t } from "../words.js";

/** @typedef {import("../types").RoomView} RoomView */
/** @typedef {import("../types").TurnView} Turn */
/** @typedef {import("../types").ReviewMessage} Review */
/** @typedef {{title: string, words: string}} Story */

/**
 * What happened in short: from the value before a move to the value after it, for the side that made it.
 * @param {Turn} turn @returns {"win-loss" | "win-draw" | "draw-loss"}
 */
function slip({ before, after }) {
  if (before === "draw") return "draw-loss";
  return after === "draw" ? "win-draw" : "win-loss";
}

/** @param {Review} review @param {RoomView} room With one side of one's own. @returns {Story} */
export function playerStory(review, room) {
  const { kind, winner, ply } = review.story;
  const player = nameWords(room, otherSide(room.you[0]));
  if (kind === "mistake") {
    const turn = /** @type {Turn} */ (review.turns.find((each) => each.ply === ply));
    return isMine(turn, room) ? myMistake(turn) : theirMistake(turn, player);
  }
  const won = winner === null ? null : room.you.includes(winner);
  if (kind === "flawless") return flawless(won, player);
  if (kind === "off-board") return offBoard(won, player);
  if (kind !== "proven") return { title: "", words: t("Nothing is proven yet.") };
  // If White's move is the first that is proven, both sides' moves are proven from the next number on.
  return proven(won, player, moveNumber(Math.min((ply ?? 0) + 1, review.turns.at(-1)?.ply ?? 0)));
}

/** Did the visitor make this move? @param {Turn} turn @param {RoomView} room */
export const isMine = ({ ply }, room) => room.you.length === 1 && room.you[0] === sideAt(ply);

/** @param {Turn} turn @returns {Story} */
function myMistake(turn) {
  const n = moveNumber(turn.ply);
  const words = {
    "win-loss": t("You were winning, but your move {n} gave the win away.", { n }),
    "win-draw": t("You were winning, but your move {n} made it a draw.", { n }),
    "draw-loss": t("You could have drawn, but your move {n} gave the draw away.", { n }),
  };
  return { title: t("This move decided it."), words: words[slip(turn)] };
}

/** @param {Turn} turn @param {string} player @returns {Story} */
function theirMistake(turn, player) {
  const n = moveNumber(turn.ply);
  const words = {
    "win-loss": t("{player} was winning, but move {n} was a mistake. From then on you were winning.", { n, player }),
    "win-draw": t("{player} was winning, but move {n} was a mistake. After it the game was a draw.", { n, player }),
    "draw-loss": t("The game was a draw until your opponent’s move {n}. From then on you were winning.", { n }),
  };
  return { title: turn.after === "draw" ? t("You held on.") : t("You took your chance."), words: words[slip(turn)] };
}

/** @param {boolean | null} won @param {string} player @returns {Story} */
function flawless(won, player) {
  if (won === null)
    return { title: t("Nobody made a mistake."), words: t("If both play perfectly, this game is a draw.") };
  return won
    ? { title: t("You made no mistake."), words: t("You were winning from the first move to the last.") }
    : {
        title: t("Nobody made a mistake."),
        words: t("{player} was winning from the first move to the last.", { player }),
      };
}

/** @param {boolean | null} won @param {string} player @param {number} n @returns {Story} */
function proven(won, player, n) {
  const before = t("What happened before is not proven.");
  if (won === null)
    return {
      title: "",
      words: `${t("From move {n} on, the game was a draw and nobody made a mistake.", { n })} ${before}`,
    };
  const words = won
    ? t("You were winning from move {n} on.", { n })
    : t("{player} was winning from move {n} on, and from then on nobody made a mistake.", { n, player });
  return { title: "", words: `${words} ${before}` };
}

/** The game did not end on the board, and not as it stood there. @param {boolean | null} won @param {string} player */
function offBoard(won, player) {
  if (won === null) return { title: "", words: t("One side was winning on the board when the draw was agreed.") };
  return {
    title: "",
    words: won
      ? t("You were not winning on the board when the game ended.")
      : t("{player} was not winning on the board when the game ended.", { player }),
  };
}

/** Say what another mistake of the game did. @param {Turn} turn @param {RoomView} room */
export function momentWords(turn, room) {
  const names = { n: moveNumber(turn.ply), player: nameWords(room, sideAt(turn.ply)) };
  const mine = {
    "win-loss": t("Your move {n} turned a win into a loss.", names),
    "win-draw": t("Your move {n} turned a win into a draw.", names),
    "draw-loss": t("Your move {n} turned a draw into a loss.", names),
  };
  const theirs = {
    "win-loss": t("{player}’s move {n} turned a win into a loss.", names),
    "win-draw": t("{player}’s move {n} turned a win into a draw.", names),
    "draw-loss": t("{player}’s move {n} turned a draw into a loss.", names),
  };
  return (isMine(turn, room) ? mine : theirs)[slip(turn)];
}
