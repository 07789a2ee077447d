// What the lists of games show of each one: who plays, how it stands, how much time is left, and when it changed.
import "./board.js";
import { stillBoard } from "./cells.js";
import { preferences } from "./shell.js";
import { dateLanguage, levelName, otherSide, seatWords, t, timeWords } from "./words.js";

/** @typedef {import("./types").SummaryView} Summary */
/** @typedef {import("./page").Side} Side */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** With less time than this, in milliseconds, a clock is shown as running short. */
const SHORT_TIME = 20_000;
/** What happened longer ago than this is told by its date. */
const RECENT = 6 * DAY;

// --- Who, and how it stands ----------------------------------------------------------------------

/** @param {Summary} game */
export function opponentWords({ shared, seats, you }) {
  if (shared) return t("Two players, one screen");
  const seat = seats[otherSide(you[0])];
  return seat.level ? `${levelName(seat.level)} (${seat.level})` : seatWords(seat) || t("Guest");
}

/** @param {Summary} game */
export const isMyTurn = ({ turn, you }) => turn !== null && you.includes(turn);

/** @param {Summary} game */
export function stateWords(game) {
  if (game.status === "aborted") return t("cancelled");
  if (game.result) return resultWords(game, game.result.winner);
  if (game.status === "waiting") return t("waiting");
  if (game.shared) return game.turn === "white" ? t("White to play") : t("Black to play");
  return isMyTurn(game) ? t("your turn") : t("your opponent’s turn");
}

/** @param {Summary} game @param {Side | null} winner */
function resultWords(game, winner) {
  if (!winner) return t("drawn");
  if (game.shared) return winner === "black" ? t("Black has won") : t("White has won");
  return game.you.includes(winner) ? t("won") : t("lost");
}

/** Has the visitor won or lost it? Nobody wins or loses a game against themselves. @param {Summary} game */
export function fate({ result, shared, you }) {
  if (!result?.winner || shared) return null;
  return you.includes(result.winner) ? "won" : "lost";
}

// --- Times ---------------------------------------------------------------------------------------

/**
 * What is left on the clock of the side to move, in milliseconds; null where nobody has a clock.
 * @param {Summary} game @param {number} received When the server told it.
 */
export function timeLeft({ turn, control, left }, received) {
  if (!turn || control === "-") return null;
  return Math.max(0, left[turn] - (left.running ? Date.now() - received : 0));
}

/** @param {number | null} left */
export const leftWords = (left) => (left === null ? "" : t("{time} left", { time: timeWords(left) }));

/** @param {number | null} left */
export const isShort = (left) => left !== null && left < SHORT_TIME;

const relative = new Intl.RelativeTimeFormat(dateLanguage, { numeric: "auto" });
const dates = new Intl.DateTimeFormat(dateLanguage, { dateStyle: "medium" });

/** Say when something happened: how long ago, or the date. @param {number} age In milliseconds. */
export function agoWords(age) {
  if (age < MINUTE) return t("just now");
  if (age < HOUR) return relative.format(-Math.floor(age / MINUTE), "minute");
  if (age < DAY) return relative.format(-Math.floor(age / HOUR), "hour");
  if (age < RECENT) return relative.format(-daysSince(age), "day");
  return dates.format(Date.now() - age);
}

/** How many midnights have passed. @param {number} age In milliseconds. */
const daysSince = (age) => Math.round((startOfDay(Date.now()) - startOfDay(Date.now() - age)) / DAY);

/** @param {number} moment In milliseconds. */
const startOfDay = (moment) => new Date(moment).setHours(0, 0, 0, 0);

/** The exact moment, for machines. @param {number} age In milliseconds. */
export const isoMoment = (age) => new Date(Date.now() - age).toISOString();

// --- A small board -------------------------------------------------------------------------------

/** @type {Map<string, import("./board.js").KamonBoard>} */
const boards = new Map();

/**
 * A small board for the eye alone, drawn again only if it changes.
 * @param {string} id @param {Summary["board"]} shown
 */
export function miniature(id, shown) {
  const key = `${id} ${shown.stones} ${preferences.edition}`;
  let board = boards.get(key);
  if (!board) {
    board = /** @type {import("./board.js").KamonBoard} */ (document.createElement("kamon-board"));
    board.board = stillBoard(shown);
    board.edition = preferences.edition;
    board.small = true;
    board.setAttribute("aria-hidden", "true");
    boards.set(key, board);
  }
  return board;
}
