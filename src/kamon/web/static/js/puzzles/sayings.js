// What is said about puzzles, in words.
import { moveWords, otherSide, sideWords, t, tn, winnersMoves } from "../words.js";

/** @typedef {import("../types").BoardView} Board */
/** @typedef {import("../types").MoveView} Move */
/** @typedef {import("../page").EditionName} EditionName */
/** @typedef {import("../page").Side} Side */
/** @typedef {"link" | "loop" | "block" | "poison" | "quiet" | "corner" | "double" | "draw"} Theme */

/** @type {Theme[]} */
export const THEMES = ["link", "loop", "block", "double", "poison", "quiet", "corner", "draw"];

/** @param {string} theme */
export function themeName(theme) {
  /** @type {Record<string, string>} */
  const names = {
    link: t("Connections"),
    loop: t("Loops"),
    block: t("Blocks"),
    double: t("Double threats"),
    poison: t("Poisoned tokens"),
    quiet: t("Quiet moves"),
    corner: t("Corners"),
    draw: t("Keeping the draw"),
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
    double: t("The first move makes two threats at once."),
    poison: t("After the first move, some tokens are poisoned: if your opponent plays there, you win at once."),
    quiet: t("The first move makes no new threat."),
    corner: t("The first move is on a corner."),
    draw: t("You cannot win here, but one move keeps the draw."),
  };
  return hints[theme] ?? "";
}

/** What is asked for. @param {Side} side @param {"win" | "draw"} goal */
export function taskWords(side, goal) {
  if (goal === "draw")
    return side === "black" ? t("You play Black. Keep the draw.") : t("You play White. Keep the draw.");
  return side === "black"
    ? t("You play Black. Find the only winning move.")
    : t("You play White. Find the only winning move.");
}

/** How many moves are to be found. @param {number} n */
export const turnsWords = (n) => tn("{n} move to find", "{n} moves to find", n);

/**
 * Say what comes of a wrong move.
 * @param {Move} move @param {Side} side The solver's. @param {EditionName} edition
 */
export function wrongWords(move, side, edition) {
  if (!(move.reply && move.after)) return t("Not quite: now every token is covered, and the game is a draw.");
  const names = { side: sideWords(otherSide(side)), reply: moveWords(move.board, move.reply, edition) };
  if (move.value === "draw") return t("Not quite: {side} answers with {reply}, and the game is a draw.", names);
  if (move.after.outcome) return t("Not quite: {side} answers with {reply} and wins at once.", names);
  return tn(
    "Not quite: {side} answers with {reply} and wins in {n} move.",
    "Not quite: {side} answers with {reply} and wins in {n} moves.",
    winnersMoves(move.plies),
    names,
  );
}

/** A change with its sign. @param {number} change */
export const changeWords = (change) => (change < 0 ? `−${-change}` : `+${change}`);

/** A rating, with a question mark while it rests on few puzzles. @param {{rating: number, sure: boolean}} progress */
export const ratingWords = ({ rating, sure }) => (sure ? `${rating}` : `${rating}?`);
