// Texts in the visitor's language. The English text is the key; {names} are filled in.
import data from "../artwork.js";
import { CELL_NAMES, isNeutral } from "./cells.js";

/** @typedef {import("./types").BoardView} Board */
/** @typedef {import("./page").EditionName} EditionName */
/** @typedef {import("./types").RoomView} RoomView */
/** @typedef {import("./types").SeatView} Seat */
/** @typedef {import("./page").Side} Side */

const { editions, levels, descriptions } = /** @type {import("./page").Artwork} */ (data);
// Outside a browser, where the tests run, everything is said in English.
const language = globalThis.document?.documentElement.lang || "en";
/** @type {Record<string, string | string[]>} */
const words = language === "en" ? {} : (await import(`../words/${language}.js`)).default;

const PLACEHOLDER = /\{(?<name>\w+)\}/gu;

/** @param {string} text @param {Record<string, string | number>} values */
const fill = (text, values) => text.replace(PLACEHOLDER, (whole, name) => String(values[name] ?? whole));

/** @param {string} text @param {Record<string, string | number>} [values] */
export function t(text, values = {}) {
  const known = words[text];
  return fill(typeof known === "string" ? known : text, values);
}

const plurals = new Intl.PluralRules(language);
/** The places of the forms in a catalogue, which has no form that its language does not need. */
const FORMS = { zero: 0, one: 0, two: 1, few: 1, many: 2, other: 2 };

/**
 * Say something that counts, in the right form. The English singular is the key.
 * @param {string} one @param {string} many @param {number} n @param {Record<string, string | number>} [values]
 */
export function tn(one, many, n, values = {}) {
  const known = words[one];
  const forms = Array.isArray(known) ? known : [one, many];
  const form = forms[Math.min(FORMS[plurals.select(n)], forms.length - 1)];
  return fill(form, { n: numberWords(n), ...values });
}

const numbers = new Intl.NumberFormat(language);
const fewLetters = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/** @param {number} n */
export const numberWords = (n) => numbers.format(n);

const percents = new Intl.NumberFormat(language, { style: "percent" });

/** A chance in per cent, which is never quite sure. @param {number} chance From 0 to 1. */
export const percentWords = (chance) => percents.format(Math.min(0.99, Math.max(0.01, chance)));

/** A share in per cent. @param {number} share From 0 to 1. */
export const shareWords = (share) => percents.format(share);

const lists = new Intl.ListFormat(language, { type: "conjunction" });

/** @param {string[]} items */
export const listWords = (items) => lists.format(items);

/** A large number in a few letters. @param {number} n */
export const roughNumberWords = (n) => fewLetters.format(n);

// The page has one kind of English, but the visitor may write dates as in another country that speaks it.
const spoken = globalThis.navigator?.languages ?? [];
export const dateLanguage = spoken.find((each) => each === language || each.startsWith(`${language}-`)) ?? language;
const days = new Intl.DateTimeFormat(dateLanguage, { dateStyle: "long", timeZone: "UTC" });

/** A day of the calendar. @param {string} date As in 2026-11-16. */
export const dayWords = (date) => days.format(new Date(`${date}T00:00Z`));

// --- Tokens and levels ---------------------------------------------------------------------------

// Every token is a text of its own, with no article: colour and symbol agree in every language. Its form never
// changes. "You played the yellow fish; the orange mountain wins" needs two cases in German, Polish and Czech, so
// that not even a second text "the yellow fish" would do. English sentences may put "the" in front of a token.
// Translations put its plain name behind a colon or in brackets: "Du hast auf c4 (gelber Fisch) gesetzt". A cell's
// name has neither gender nor case, so a sentence about a move takes `moveWords`, which names the cell, too.

/** Name a token, as in "blue fish" or "three cups". @param {string} token @param {EditionName} edition */
export const tokenWords = (token, edition) => (isNeutral(token) ? t("neutral") : t(editions[edition].tokens[token]));

/** Say what matches a token. @param {string} token @param {EditionName} edition */
export function needWords(token, edition) {
  const [symbol, suit] = token;
  const { any } = editions[edition];
  return t("{any_symbol}, or {any_suit}", { any_symbol: t(any[symbol]), any_suit: t(any[suit]) });
}

/** @param {number} level */
export const levelName = (level) => t(levels[level - 1]);

/** @param {number} level */
export const levelDescription = (level) => t(descriptions[level - 1]);

export const LEVEL_COUNT = levels.length;

// --- Times ---------------------------------------------------------------------------------------

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Time left, as on a clock. @param {number} milliseconds */
export function timeWords(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds >= 2 * DAY) return tn("{n} day", "{n} days", Math.floor(seconds / DAY));
  const parts = [Math.floor(seconds / HOUR), Math.floor(seconds / MINUTE) % 60, seconds % 60];
  const [first, ...others] = parts[0] ? parts : parts.slice(1);
  return [first, ...others.map((part) => String(part).padStart(2, "0"))].join(":");
}

/** @param {string} control */
export function controlWords(control) {
  if (control === "-") return t("no clock");
  if (control.startsWith("1/")) {
    return tn("{n} day per move", "{n} days per move", Math.round(Number(control.slice(2)) / DAY));
  }
  const [initial, increment] = control.split("+").map(Number);
  return t("{minutes} min + {seconds} s", { minutes: initial / MINUTE, seconds: increment });
}

// --- Players and results -------------------------------------------------------------------------

/** @param {Side} side @returns {Side} */
export const otherSide = (side) => (side === "black" ? "white" : "black");

/** @param {Side} side */
export const sideWords = (side) => (side === "black" ? t("Black") : t("White"));

/** @param {Side | null} side */
export const toPlayWords = (side) => (side === "white" ? t("White to play.") : t("Black to play."));

/** Say who sits there, as far as the seat tells. @param {Seat} seat */
export function seatWords(seat) {
  if (seat.kind === "open") return t("waiting for an opponent");
  if (seat.kind === "person") return seat.name;
  return t("Computer, level {n} ({name})", { n: seat.level, name: levelName(seat.level) });
}

/** @param {RoomView} room @param {Side} side */
export function playerWords(room, side) {
  const seat = room.seats[side];
  if (seat.kind === "person" && room.shared) return sideWords(side);
  return seatWords(seat) || (room.you.includes(side) ? t("You") : t("Guest"));
}

/** What a player is called in a sentence. @param {RoomView} room @param {Side} side */
export function nameWords(room, side) {
  const { level, name } = room.seats[side];
  if (level) return levelName(level);
  if (room.shared || !(name || room.you.length === 1)) return sideWords(side);
  return name || t("Your opponent");
}

/** Say how a game has ended. @param {Side | null} winner @param {string} by Several ways are joined by "+". */
export function endWords(winner, by) {
  if (!winner)
    return by === "agreement"
      ? t("A draw by agreement.")
      : t("A draw: all 36 stones are on the board and nobody has won.");
  const names = { winner: sideWords(winner), loser: sideWords(otherSide(winner)) };
  /** @type {Record<string, string>} */
  const ways = {
    connection: t("{winner} wins by connecting two opposite edges.", names),
    loop: t("{winner} wins by closing a loop.", names),
    "connection+loop": t("{winner} wins with a connection and a loop at once.", names),
    block: t("{winner} wins: {loser} cannot play.", names),
    resignation: t("{winner} wins: {loser} has resigned.", names),
    time: t("{winner} wins: {loser} has run out of time.", names),
  };
  return ways[by] ?? by;
}

/** A pair of opposite edges, by its mark. @param {string} mark */
function edgesWords(mark) {
  /** @type {Record<string, string>} */
  const names = {
    green: t("the two green edges"),
    blue: t("the two blue edges"),
    yellow: t("the two yellow edges"),
    snake: t("the two snake edges"),
    ibis: t("the two ibis edges"),
    frog: t("the two frog edges"),
  };
  return names[mark] ?? mark;
}

/**
 * Say how a game has ended, with the names of the edges that are connected. Players are spoken to.
 * @param {RoomView} room @param {EditionName} edition
 */
export function resultWords(room, edition) {
  const { result, board } = room;
  if (!result) return "";
  const { winner, by } = result;
  const links = board.outcome?.links ?? [];
  const edges = listWords(links.map((link) => edgesWords(editions[edition].edges[link.colour])));
  const way = links.length && board.outcome?.ring.length ? "connection+loop" : by;
  if (winner && room.you.length === 1)
    return room.you.includes(winner) ? wonWords(room, way, edges) : lostWords(room, way, edges);
  if (!(winner && links.length)) return endWords(winner, by);
  const names = { winner: sideWords(winner), edges };
  return way === "connection"
    ? t("{winner} wins by connecting {edges}.", names)
    : t("{winner} wins by connecting {edges} and closing a loop.", names);
}

/** Say to the winner how they won. @param {RoomView} room @param {string} way @param {string} edges */
function wonWords(room, way, edges) {
  const loser = nameWords(room, otherSide(room.you[0]));
  /** @type {Record<string, string>} */
  const ways = {
    connection: t("You connected {edges}.", { edges }),
    loop: t("You closed a loop."),
    "connection+loop": t("You connected {edges} and closed a loop.", { edges }),
    block: t("{loser} had no move left.", { loser }),
    resignation: t("{loser} resigned.", { loser }),
    time: t("{loser} ran out of time.", { loser }),
  };
  return ways[way] ?? way;
}

/** Say to the loser how they lost. @param {RoomView} room @param {string} way @param {string} edges */
function lostWords(room, way, edges) {
  const winner = nameWords(room, otherSide(room.you[0]));
  /** @type {Record<string, string>} */
  const ways = {
    connection: t("{winner} connected {edges}.", { winner, edges }),
    loop: t("{winner} closed a loop.", { winner }),
    "connection+loop": t("{winner} connected {edges} and closed a loop.", { winner, edges }),
    block: t("You had no move left."),
    resignation: t("You resigned."),
    time: t("You ran out of time."),
  };
  return ways[way] ?? way;
}

/**
 * Say how a game has ended to who looks: a player is told what it means for them.
 * @param {RoomView} room @param {EditionName} edition
 */
export function headlineWords(room, edition) {
  const { result, you } = room;
  if (!result) return resultWords(room, edition);
  if (!result.winner) return t("A draw.");
  if (you.length !== 1) return t("{winner} wins.", { winner: nameWords(room, result.winner) });
  return you.includes(result.winner) ? t("You win!") : t("You lose.");
}

/**
 * How a series of games stands, one side's wins first.
 * @param {import("./types").ScoreView} score @param {Side} first
 */
export function scoreWords(score, first) {
  const wins = `${numberWords(score[first])} – ${numberWords(score[otherSide(first)])}`;
  return score.draws ? `${wins} (${tn("{n} draw", "{n} draws", score.draws)})` : wins;
}

/** Say how the board itself has ended the game, or whose turn it is. @param {Board} board */
export const boardWords = ({ outcome, turn }) =>
  outcome ? endWords(outcome.winner, outcome.by.join("+")) : toPlayWords(turn);

/** Name the cells that prove how a game has ended. @param {Board} board @param {EditionName} edition */
export function proofWords({ outcome }, edition) {
  if (!outcome) return "";
  const parts = outcome.links.map((link) => t("Connection: {cells}.", { cells: link.chain.join(" ") }));
  if (outcome.ring.length) {
    const cells = { cells: outcome.ring.join(" "), inside: outcome.enclosed.join(" ") };
    parts.push(t("Loop: {cells}. Inside: {inside}.", cells));
  }
  return [...parts, blockWords({ outcome }, edition)].filter(Boolean).join(" ");
}

/**
 * Say what the blocked side would have needed, if it was blocked.
 * @param {Pick<Board, "outcome">} board @param {EditionName} edition
 */
export function blockWords({ outcome }, edition) {
  if (!outcome?.needed) return "";
  const need = needWords(outcome.needed.symbol + outcome.needed.suit, edition);
  return t("No free token matches. Needed: {need}.", { need });
}

// --- One game ------------------------------------------------------------------------------------

/**
 * Say how a game stands.
 * @param {RoomView} room @param {EditionName} edition @param {boolean} compiling Is the engine being compiled?
 */
export function statusWords(room, edition, compiling) {
  if (room.status === "waiting")
    return room.you.length ? t("Waiting for an opponent.") : t("This game is waiting for an opponent.");
  if (room.status === "aborted") return t("The game was cancelled.");
  if (room.status === "over") return headlineWords(room, edition);
  const turn = room.board.turn ?? "black";
  if (room.shared) return toPlayWords(turn);
  if (room.you.includes(turn)) return t("Your turn.");
  if (room.seats[turn].kind !== "computer") return turnWords(room, turn);
  return compiling
    ? t("Getting the computer ready. This takes about 15 seconds and happens only once…")
    : t("The computer is thinking…");
}

/** Say whose turn it is, to somebody else. @param {RoomView} room @param {Side} turn */
function turnWords(room, turn) {
  const { name } = room.seats[turn];
  if (name) return t("{player}’s turn.", { player: name });
  return room.you.length ? t("Your opponent’s turn.") : toPlayWords(turn);
}

/** Is it the turn of somebody at this browser? @param {RoomView} room */
export const isMyTurn = (room) =>
  room.status === "playing" && room.board.turn !== null && room.you.includes(room.board.turn);

/** The events that change the game; an offer is an alert of its own. */
const TOLD = ["moved", "takenback", "joined", "ended", "aborted"];

/**
 * Say aloud what has happened in a game, and what can be done now; nothing, if nothing has changed.
 * @param {RoomView} room @param {string[]} kinds Of the events. @param {EditionName} edition @param {boolean} compiling
 */
export function newsWords(room, kinds, edition, compiling) {
  if (!kinds.some((kind) => TOLD.includes(kind))) return "";
  const { last, need, legal } = room.board;
  const parts = [];
  if (kinds.includes("takenback")) parts.push(t("Moves were taken back."));
  if (last && kinds.includes("moved")) {
    const player = sideWords(room.moves.length % 2 ? "black" : "white");
    const token = tokenWords(need ?? "--", edition);
    parts.push(t("{player} has played {cell}: {token}.", { player, cell: last, token }));
  }
  parts.push(statusWords(room, edition, compiling));
  if (room.status === "over") parts.push(resultWords(room, edition));
  if (room.status !== "playing") parts.push(proofWords(room.board, edition));
  if (isMyTurn(room)) {
    parts.push(
      need
        ? t("To match: {need}.", { need: needWords(need, edition) })
        : t("Begin on an edge space, but not on a corner."),
      t("You may play on these spaces: {cells}.", { cells: legal.join(" ") }),
    );
  }
  return parts.filter(Boolean).join(" ");
}

/** Say why a cell cannot be played. @param {Board} board @param {string} cell @param {EditionName} edition */
export function refusalWords(board, cell, edition) {
  const at = CELL_NAMES.indexOf(cell);
  if (board.stones[at] !== ".") return t("There is a stone here already.");
  if (isNeutral(board.tokens[at])) return t("Nobody may play on the neutral space.");
  if (!board.need) return t("Begin on an edge space, but not on a corner.");
  const token = tokenWords(board.tokens[at], edition);
  return t("This token ({token}) does not match. Choose {need}.", { token, need: needWords(board.need, edition) });
}

/**
 * Name a move by its token and its cell.
 * @param {Board} board @param {string} cell @param {EditionName} edition
 */
export const moveWords = (board, cell, edition) =>
  t("the {token} on {cell}", { token: tokenWords(board.tokens[CELL_NAMES.indexOf(cell)], edition), cell });

/** How many moves the winner makes, if both players place so many stones until the end. @param {number} stones */
export const winnersMoves = (stones) => Math.ceil(stones / 2);

/** Say that the opponent did not agree to what one has offered. @param {string} what */
export function declinedWords(what) {
  if (what === "draw") return t("Your opponent declined the draw.");
  if (what === "takeback") return t("Your opponent does not want you to take the move back.");
  return t("Your opponent does not want a rematch.");
}

// --- Errors --------------------------------------------------------------------------------------

/** @typedef {import("./server.js").Trouble} Trouble */

/** The sentences of errors and defects by their codes. They come with the first error. */
let sentences = /** @type {import("./page").Sentences} */ ({ errors: {}, defects: {} });

/** Load the sentences of errors. Without a network an error has no words of its own. */
export async function loadSentences() {
  sentences = await import("../sentences.js").then(
    (loaded) => loaded.default,
    () => sentences,
  );
}

/** Say what went wrong. @param {Trouble} error */
export function errorWords(error) {
  if (error.code === "offline") return t("No connection to the server.");
  const known = sentences.errors[error.code ?? ""];
  if (!known) return t("Something went wrong.");
  const sentence = t(known, error.values);
  const detail = defectWords(error);
  return detail ? `${sentence} (${detail})` : sentence;
}

/** Say what is wrong with a text, and where. @param {Trouble} error */
export function defectWords({ defects: found = [], line, column }) {
  const what = found.map((defect) => t(sentences.defects[defect.code] ?? "", shownValues(defect.values))).join("; ");
  if (!what || !column) return what;
  return line
    ? t("line {line}, column {column}: {what}", { line, column, what })
    : t("column {column}: {what}", { column, what });
}

/** @param {Record<string, string | number>} values */
function shownValues(values) {
  const { side } = values;
  return side === "black" || side === "white" ? { ...values, side: sideWords(side) } : values;
}
