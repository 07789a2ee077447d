// The board of the day: to play, how people fared on it, and a day later what is proven about it.
import { html, nothing, render } from "../vendor/lit-html.js";
import { inRows } from "./cells.js";
import { levelPicker } from "./crests.js";
import { boardIn, button, errorLine, shareText, showBoard, stepButtons } from "./parts.js";
import { ask, Latest } from "./server.js";
import { announce, emptyRoot, onPreferences, prefer, preferences } from "./shell.js";
import { opponentWords, stateWords } from "./summaries.js";
import {
  dayWords,
  errorWords,
  levelName,
  listWords,
  moveWords,
  numberWords,
  shareWords,
  sideWords,
  t,
  tn,
} from "./words.js";

/** @typedef {import("./types").BoardView} Board */
/** @typedef {import("./types").DayView} Day */
/** @typedef {import("./types").TruthView} Truth */
/** @typedef {import("./page").MoveMark} MoveMark */

const root = emptyRoot("day");
const date = new URLSearchParams(location.search).get("date");
const days = new Latest();
const boards = new Latest();
/** @type {Day | null} */
let day = null;
/** How far the line is on the board, and the board there; the empty one is the day's own. */
let ply = 0;
/** @type {Board | null} */
let onLine = null;
let side = "random";
let busy = false;
let copied = false;
let error = "";

/** @param {string} name */
const addressOf = (name) => `/day?date=${name}`;

function look() {
  const address = date ? `/api/day?date=${encodeURIComponent(date)}` : "/api/day";
  days.show(ask(address), showDay, showError);
}

/** @param {Day} told */
function showDay(told) {
  day = told;
  error = "";
  update();
}

/** @param {any} problem */
function showError(problem) {
  error = errorWords(problem);
  update();
}

// --- Playing -------------------------------------------------------------------------------------

/** Only today's board counts; one of a day before is a board like any other. @param {Day} shown */
async function play(shown) {
  if (busy) return;
  busy = true;
  error = "";
  update();
  const { level, name } = preferences;
  const board = isToday(shown) ? { day: true } : { layout: inRows(shown.board.tokens) };
  try {
    const game = await ask("/api/games", { against: "computer", side, level, name, ...board });
    location.href = `/game/${game.id}`;
  } catch (problem) {
    busy = false;
    showError(problem);
  }
}

/** @param {Day} shown */
const isToday = ({ next }) => next === null;

// --- Sharing -------------------------------------------------------------------------------------

/** Tell others about the board, and of the visitor's best game on it. @param {Day} shown */
async function share(shown) {
  const what = t("Kamon, board of {date}", { date: dayWords(shown.date) });
  const won = shown.mine.filter(({ result, you }) => result?.winner && you.includes(result.winner));
  const [best] = won.sort((one, other) => one.moves - other.moves);
  const text = best ? `${what}: ${wonWords(best)}` : what;
  copied = await shareText(text, `${location.origin}${addressOf(shown.date)}`);
  update();
}

/** @param {Day["mine"][number]} game */
const wonWords = ({ seats, moves }) =>
  tn("I beat {name} in a game of {n} stone", "I beat {name} in a game of {n} stones", moves, {
    name: levelName(seats.black.level || seats.white.level),
  });

// --- The line ------------------------------------------------------------------------------------

/** @param {Day} shown @param {Truth} truth @param {number} to */
function step(shown, truth, to) {
  const line = lineTo(shown, truth, to);
  const show = (/** @type {Board | null} */ board) => {
    ply = to;
    onLine = board;
    announce(stepWords(shown, truth));
    update();
  };
  if (to) boards.show(ask(`/api/board?line=${line}`), show, showError);
  else {
    boards.cancel();
    show(null);
  }
}

/** A position line for an address. @param {Day} shown @param {Truth} truth @param {number} [to] */
const lineTo = ({ board }, { line }, to = line.length) =>
  encodeURIComponent([inRows(board.tokens), ...line.slice(0, to)].join(" "));

/** Say where on the line we are. @param {Day} shown @param {Truth} truth */
function stepWords({ board }, { line }) {
  if (!ply) return t("Before the first move.");
  const move = moveWords(board, line[ply - 1], preferences.edition);
  return t("Stone {n} of {count}: {move}.", { n: ply, count: line.length, move });
}

// --- What is shown -------------------------------------------------------------------------------

function update() {
  if (!day) {
    if (error) render(html`${errorLine(error)}<p><a class="button" href="/day">${t("Board of the day")}</a></p>`, root);
    return;
  }
  render(page(day), root);
  showBoard(
    boardIn(root),
    {
      board: onLine ?? day.board,
      coordinates: preferences.coordinates || day.truth !== null,
      values: day.truth && !ply ? marksOf(day.truth) : {},
    },
    {},
  );
}

/** @param {Day} shown */
const page = (shown) => html`
  <section class="table" aria-label=${t("Board")}><kamon-board></kamon-board>
    ${shown.truth?.line.length ? lineBar(shown, shown.truth) : nothing}</section>
  <aside class="panel">
    ${heading(shown)}${errorLine(error)}
    ${shown.truth ? truthSection(shown, shown.truth) : nothing}
    ${playForm(shown)}${resultsSection(shown)}${shown.mine.length ? ownGames(shown) : nothing}
    <p class="row">${button(copied ? t("Copied.") : t("Share"), () => share(shown), "")}</p>
  </aside>`;

/** @param {Day} shown */
const heading = (shown) => html`<header class="day-head">
  <h2>${isToday(shown) ? t("Board of the day") : t("Board of a past day")}</h2>
  <p><time datetime=${shown.date}>${dayWords(shown.date)}</time></p>
  <nav class="row" aria-label=${t("Other days")}>
    ${shown.previous ? html`<a href=${addressOf(shown.previous)} rel="prev">‹ ${t("The day before")}</a>` : nothing}
    ${shown.next ? html`<a href=${addressOf(shown.next)} rel="next">${t("The next day")} ›</a>` : nothing}
  </nav></header>`;

/** @param {Day} shown */
function playForm(shown) {
  const pick = (/** @type {number} */ level) => {
    prefer({ level });
    update();
  };
  return html`<section class="day-play" aria-label=${t("Play this board")}>
    <p><button type="button" class="primary large" ?disabled=${busy}
      @click=${() => play(shown)}>${t("Play this board")}</button></p>
    ${levelPicker(pick)}
    <fieldset><legend>${t("Your colour")}</legend>
      ${sidePill("random", t("Random"))}${sidePill("black", t("Black (goes first)"))}
      ${sidePill("white", t("White (goes second)"))}</fieldset>
    <p class="small">${
      isToday(shown)
        ? t("All your games today count, even with hints or moves taken back. The next board comes at midnight UTC.")
        : t("This day is over: games that begin now do not count for it.")
    }</p></section>`;
}

/** @param {string} value @param {string} label */
const sidePill = (value, label) => html`<label class="pill"><input type="radio" name="side" value=${value}
  .checked=${value === side} @change=${() => {
    side = value;
  }}><span>${label}</span></label>`;

// --- How people fared ----------------------------------------------------------------------------

/** @param {Day} shown */
const resultsSection = ({ results }) => html`<section class="day-results"><h2>${t("How everyone did")}</h2>
  ${results.length ? resultsTable(results) : html`<p class="note">${t("No finished games yet.")}</p>`}
  </section>`;

/** @param {Day["results"]} results */
const resultsTable = (results) => html`<table>
  <thead><tr><th scope="col">${t("Level")}</th><th scope="col">${t("Games")}</th><th scope="col">${t("Won")}</th>
    <th scope="col">${t("Shortest win")}</th></tr></thead>
  <tbody>${results.map(
    ({ level, games, wins, shortest }) => html`<tr><th scope="row">${level} <span>${levelName(level)}</span></th>
      <td>${numberWords(games)}</td><td>${shareWords(wins / games)}</td>
      <td>${shortest === null ? "–" : tn("{n} stone", "{n} stones", shortest)}</td></tr>`,
  )}</tbody></table>`;

/** @param {Day} shown */
const ownGames = ({ mine }) =>
  html`<section><h2>${t("Your games")}</h2><ul class="list">${mine.map(
    (game) => html`<li><a href="/game/${game.id}">${opponentWords(game)} · ${stateWords(game)}
      · ${t("stones: {n}", { n: game.moves })}</a></li>`,
  )}</ul></section>`;

// --- What is proven ------------------------------------------------------------------------------

/** @param {Truth} truth */
const verdictWords = ({ winner }) =>
  winner ? t("{side} wins if both play perfectly.", { side: sideWords(winner) }) : t("A draw if both play perfectly.");

/** The first moves that are proven not to win, and of which nobody knows that they draw. @param {Truth} truth */
const otherMoves = ({ not_winning, drawing }) => not_winning.filter((cell) => !drawing.includes(cell));

/** @param {Truth} truth @returns {Record<string, MoveMark>} */
function marksOf(truth) {
  const { winner, winning, drawing, unsettled } = truth;
  const other = winner === "white" ? { kind: "loss", words: t("loses") } : { kind: "draw", words: t("does not win") };
  const marks = [
    ...winning.map((cell) => [cell, { kind: "win", text: SIGNS.win, words: t("wins"), best: true }]),
    ...drawing.map((cell) => [cell, { kind: "draw", text: SIGNS.draw, words: t("draws"), best: false }]),
    ...otherMoves(truth).map((cell) => [cell, { ...other, text: SIGNS.other, best: false }]),
    ...unsettled.map((cell) => [cell, { kind: "open", text: SIGNS.open, words: t("not proven yet"), best: false }]),
  ];
  return Object.fromEntries(marks);
}

/** What the board shows on the cells. */
const SIGNS = { win: "+", draw: "=", other: "×", open: "?" };

/** @param {Day} shown @param {Truth} truth */
const truthSection = (shown, truth) => html`<section class="day-truth" aria-label=${t("What the computer found out")}>
  <p class="status">${verdictWords(truth)}</p>
  <h3>${t("First moves")}</h3>
  <ul class="plain">${provenLines(shown, truth)}</ul>
  ${truth.line.length ? lineNote(shown, truth) : nothing}</section>`;

/** @param {Day} shown @param {Truth} truth */
function provenLines({ board }, truth) {
  const { winner, winning, drawing, unsettled } = truth;
  const named = (/** @type {string[]} */ cells) =>
    listWords(cells.map((cell) => moveWords(board, cell, preferences.edition)));
  const others = otherMoves(truth);
  const told = { cells: others.join(" ") };
  // Where White wins the board, all of Black's first moves lose.
  const othersWords =
    winner === "white" ? t("Losing first moves: {cells}.", told) : t("First moves that do not win: {cells}.", told);
  return [
    winning.length ? provenLine(SIGNS.win, t("Winning first moves: {moves}.", { moves: named(winning) })) : nothing,
    drawing.length ? provenLine(SIGNS.draw, t("Drawing first moves: {moves}.", { moves: named(drawing) })) : nothing,
    others.length ? provenLine(SIGNS.other, othersWords) : nothing,
    unsettled.length ? provenLine(SIGNS.open, t("Not known yet: {cells}.", { cells: unsettled.join(" ") })) : nothing,
  ];
}

/** @param {string} sign @param {string} words */
const provenLine = (sign, words) => html`<li><b aria-hidden="true">${sign}</b><span>${words}</span></li>`;

/** Say what the line under the board is. @param {Day} shown @param {Truth} truth */
const lineNote = (shown, truth) => html`<h3>${t("How it can go")}</h3>
  <p class="small">${t(
    "Step through one winning game with the arrows under the board. The winner makes no mistake, and the loser puts up a hard fight. Other games may be longer or shorter.",
  )}</p>
  <p><a class="button" href="/study?line=${lineTo(shown, truth)}">${t("Open in a study")}</a></p>`;

/** The steps of the line. @param {Day} shown @param {Truth} truth */
function lineBar(shown, truth) {
  const go = (/** @type {number} */ to) => () => step(shown, truth, to);
  const last = truth.line.length;
  const back = ply > 0;
  const forward = ply < last;
  const steps = {
    first: back ? go(0) : null,
    back: back ? go(ply - 1) : null,
    forward: forward ? go(ply + 1) : null,
    last: forward ? go(last) : null,
  };
  return html`<div class="bar"><div class="steps">${stepButtons(steps, t("Last position"))}</div>
    <p class="day-step">${stepWords(shown, truth)}</p></div>`;
}

onPreferences(update);
look();
// Meanwhile a new day may have begun, and others may have played.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  busy = false;
  look();
});
