// What is said about puzzles, in words.
import { moveWords, otherSide, sideWords, t, tn, winnersMoves } from "../words.js";

/** @typedef {import("../types").BoardView} Board */
/** @typedef {import("../types").MoveView} Move */
/** @typedef {import("../page").EditionName} EditionName */
/** @typedef {import("../page").Side} Side */
/** @typedef {"link" | "loop" | "block" | "defend" | "poison" | "quiet" | "corner" | "double" | "draw"} Theme */

/** @type {Theme[]} */
export const THEMES = ["link", "loop", "block", "defend", "double", "poison", "quiet", "corner", "draw"];

/** @param {string} theme */
export function themeName(theme) {
  /** @type {Record<string, string>} */
  const names = {
    link: t("Connections"),
    loop: t("Loops"),
    block: t("Blocks"),
    defend: t("Stopping a threat"),
    double: t("Double threats"),
    poison: t("Traps"),
    quiet: t("Moves without a threat"),
    corner: t("Corners"),
    draw: t("Saving the draw"),
  };
  return names[theme] ?? theme;
}

/** What a puzzle is about, as a hint. @param {string} theme */
export function themeHint(theme) {
  /** @type {Record<string, string>} */
  const hints = {
    link: t("In the end you connect two opposite edges."),
    loop: t("In the end you close a loop."),
    block: t("In the end your opponent has nothing to play."),
    defend: t("Look for the space where your opponent would win, and how you can prevent it."),
    double: t("The first move makes two threats at once."),
    poison: t(
      "Your first move sets a trap: if your opponent plays on certain tokens, you can win with your next stone.",
    ),
    quiet: t("The first move does not threaten to win at once."),
    corner: t("The first move is on a corner."),
    draw: t("You cannot win here, but one move saves the draw."),
  };
  return hints[theme] ?? "";
}

/**
 * What is asked for.
 * @param {{side: string, goal: string, turns?: number}} task One's own missed moves have no number of turns.
 */
export function taskWords({ side, goal, turns = 0 }) {
  const isBlack = side === "black";
  if (goal === "defend")
    return isBlack
      ? t("You play Black. White threatens to win: stop it.")
      : t("You play White. Black threatens to win: stop it.");
  if (goal === "draw") return isBlack ? t("You play Black. Save the draw.") : t("You play White. Save the draw.");
  if (turns === 1) return isBlack ? t("You play Black. Win in one move.") : t("You play White. Win in one move.");
  return isBlack ? t("You play Black. Find the winning move.") : t("You play White. Find the winning move.");
}

/** How many moves are to be found. @param {number} n */
export const turnsWords = (n) => tn("{n} move to find", "{n} moves to find", n);

/**
 * Say what comes of a wrong move.
 * @param {Move} move @param {Side} side The solver's. @param {EditionName} edition
 */
export function wrongWords(move, side, edition) {
  if (!(move.reply && move.after)) return t("Not quite: now all 36 stones are on the board, and the game is a draw.");
  const names = { side: sideWords(otherSide(side)), reply: moveWords(move.board, move.reply, edition) };
  if (move.value === "draw") return t("Not quite: {side} answers with {reply}, and the game is a draw.", names);
  if (move.after.outcome) return t("Not quite: {side} answers with {reply} and wins at once.", names);
  // In early positions of one's own games it is proven that the move loses, but not how soon.
  if (!move.plies) return t("Not quite: {side} answers with {reply} and wins in the end.", names);
  return tn(
    "Not quite: {side} answers with {reply} and wins in {n} move.",
    "Not quite: {side} answers with {reply} and wins in {n} moves.",
    winnersMoves(move.plies),
    names,
  );
}

/** A change with its sign. @param {number} change */
export const changeWords = (change) => (change < 0 ? `−${-change}` : `+${change}`);

/** A rating. While it rests on few puzzles it is only about right. @param {{rating: number, sure: boolean}} progress */
export const ratingWords = ({ rating, sure }) => (sure ? `${rating}` : t("about {n}", { n: rating }));
