// The tutorial: small boards on which one plays, with an answer to every try.
import { html, nothing, render } from "../vendor/lit-html.js";
import { CELL_NAMES } from "./cells.js";
import { playerCrest } from "./crests.js";
import { boardIn, button, errorLine, needToMatch, playSound, showBoard } from "./parts.js";
import { ask, Latest } from "./server.js";
import { announce, emptyRoot, isStill, onPreferences, prefer, preferences } from "./shell.js";
import { errorWords, needWords, t, tokenWords } from "./words.js";

/** @typedef {import("./types").BoardView} Board */
/** @typedef {import("./types").LessonView} Lesson */

// Long enough to see the stone and then the answer, short enough not to wait for them.
const STONE_TIME = 900;
const LOOK_TIME = 2600;
/** After so many wrong tries help is offered. */
const TRIES_ALONE = 2;

const root = emptyRoot("learn");
const lessons = new Latest();
/** @type {Lesson | null} */
let lesson = null;
/** What is said about the last try, in the words of the edition. @type {{good: boolean, say: () => string} | null} */
let answer = null;
/** The try that is on the board, and what came of it. @type {{cell: string, board: Board, marked?: boolean} | null} */
let shown = null;
/** A right cell that the learner has asked for. @type {string | null} */
let hint = null;
let wrongTries = 0;
let error = "";
let busy = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {string} text @param {Board} board @param {Board | null} [after] */
const filled = (text, board, after) =>
  t(text, {
    need: board.need ? needWords(board.need, preferences.edition) : "",
    cells: after ? after.legal.join(" ") : "",
  });

// --- Steps ---------------------------------------------------------------------------------------

/** @param {number} number @returns {Promise<boolean>} Is it shown? */
function open(number) {
  clearTimeout(timer);
  return lessons.show(ask(`/api/lessons/${number}`), begin, (problem) => {
    // A browser may have stored the number of a step that does not exist any more.
    if (!lesson && number !== 1) open(1);
    else showError(problem);
  });
}

/** @param {Lesson} step */
function begin(step) {
  lesson = step;
  answer = null;
  hint = null;
  wrongTries = 0;
  error = "";
  takeBack();
  announce(filled(step.text, step.board));
}

/** Go to another step; screen readers start at its title. @param {number} number */
async function turnTo(number) {
  prefer({ lesson: number });
  if (await open(number)) root.querySelector("h2")?.focus();
}

/** @param {any} problem */
function showError(problem) {
  error = errorWords(problem);
  update();
}

// --- Tries ---------------------------------------------------------------------------------------

/** @param {string} cell */
function onTry(cell) {
  if (!lesson || answer?.good || shown?.cell === cell) return;
  clearTimeout(timer);
  shown = null;
  hint = null;
  const result = lesson.tries[cell];
  const { board } = lesson;
  answer = { good: result.good, say: () => filled(result.why, board, result.board) };
  if (result.board) putStone({ cell, board: result.board, marked: result.why.includes("{cells}") });
  if (result.good) succeed(lesson);
  else fail(cell, result);
}

/** @param {string} cell @param {import("./types").TryView} result */
function fail(cell, result) {
  wrongTries += 1;
  if (result.after) showReply(cell, result.after);
  else if (result.board) timer = setTimeout(takeBack, LOOK_TIME);
  announce(`${replyWords(result.reply)} ${answer?.say()}`.trim());
  update();
}

/** @param {string | null} cell */
const replyWords = (cell) =>
  cell ? t("{player} has played {cell}: {token}.", { player: t("White"), cell, token: wordsAt(cell) }) : "";

/** @param {string} cell */
const wordsAt = (cell) =>
  lesson ? tokenWords(lesson.board.tokens[CELL_NAMES.indexOf(cell)], preferences.edition) : "";

/** @param {NonNullable<typeof shown>} stone */
function putStone(stone) {
  shown = stone;
  const element = boardIn(root);
  if (element) element.landed = stone.board.last;
  playSound("mine");
}

/**
 * Let White answer after a moment, or at once for those who want no movement.
 * @param {string} cell @param {Board} after
 */
function showReply(cell, after) {
  timer = setTimeout(
    () => {
      putStone({ cell, board: after });
      update();
      timer = setTimeout(takeBack, LOOK_TIME);
    },
    isStill() ? 0 : STONE_TIME,
  );
}

function takeBack() {
  shown = null;
  const element = boardIn(root);
  if (element) element.landed = null;
  update();
}

/** @param {Lesson} step */
function succeed(step) {
  prefer({ learnt: Math.max(step.number, preferences.learnt), lesson: Math.min(step.number + 1, step.count) });
  if (shown?.board.outcome) playSound("end");
  announce(step.done);
  update();
  /** @type {HTMLElement | null} */ (root.querySelector("button.primary"))?.focus();
}

/** Mark a right cell, and lead the keyboard there. */
function help() {
  if (!lesson) return;
  clearTimeout(timer);
  shown = null;
  const { tries } = lesson;
  const cell = CELL_NAMES.find((name) => tries[name].good);
  if (!cell) return;
  hint = cell;
  answer = { good: false, say: () => t("Try {cell}: {token}.", { cell, token: wordsAt(cell) }) };
  update();
  announce(answer.say());
  boardIn(root)?.focusCell(cell);
}

async function startGame() {
  if (busy) return;
  busy = true;
  update();
  try {
    const game = await ask("/api/games", { against: "computer", side: "black", level: 1, name: preferences.name });
    location.href = `/game/${game.id}`;
  } catch (problem) {
    busy = false;
    showError(problem);
  }
}

// --- What is shown -------------------------------------------------------------------------------

function update() {
  if (!lesson) {
    if (error) render(errorLine(error), root);
    return;
  }
  render(page(lesson), root);
  drawBoard(lesson);
}

/** @param {Lesson} step */
const page = (step) => html`
  <header class="lesson">${progress(step)}<h2 tabindex="-1">${step.title}</h2>
    <p>${filled(step.text, step.board)}</p></header>
  <section class="table" aria-label=${t("Board")}>
    <kamon-board></kamon-board>
    <div class="player black"><span class="avatar">${playerCrest("black", 0)}</span>
      <span class="who">${t("You play Black.")}</span></div>
  </section>
  <aside class="panel">
    ${errorLine(error)}
    ${step.board.need && !answer?.good ? needToMatch(step.board.need) : nothing}
    ${answer ? html`<p class="answer ${answerKind(answer.good)}">${answer.say()}</p>` : nothing}
    ${buttons(step)}
  </aside>`;

/** @param {boolean} good */
function answerKind(good) {
  if (good) return "good";
  return hint ? "hint" : "wrong";
}

/** @param {Lesson} step */
function progress({ number, count }) {
  const dots = Array.from({ length: count }, (_, at) => {
    const classes = `${at + 1 === number ? "here" : ""} ${at < preferences.learnt ? "learnt" : ""}`;
    return html`<i class=${classes}></i>`;
  });
  return html`<p class="progress"><span class="small">${t("Step {n} of {count}", { n: number, count })}</span
    ><span class="dots" aria-hidden="true">${dots}</span></p>`;
}

/** @param {Lesson} step */
function buttons({ number, count }) {
  const last = number === count;
  const learnt = number <= preferences.learnt;
  const needsHelp = wrongTries >= TRIES_ALONE && !answer?.good && !hint;
  return html`<div class="row">
    ${learnt && !last ? button(t("Next"), () => turnTo(number + 1), "primary") : nothing}
    ${learnt && last ? firstGameButton() : nothing}
    ${needsHelp ? button(t("Show me"), help, "") : nothing}
    ${number > 1 ? button(t("Back"), () => turnTo(number - 1)) : nothing}
    ${learnt && last ? button(t("Start again"), () => turnTo(1)) : nothing}
  </div>`;
}

const firstGameButton = () => html`<button type="button" class="primary" ?disabled=${busy}
  @click=${startGame}>${t("Play your first game")}</button>`;

/** @param {Lesson} step */
function drawBoard(step) {
  showBoard(
    boardIn(root),
    {
      board: shown?.board ?? (hint ? { ...step.board, legal: [hint], replies: {} } : step.board),
      // An answer may name spaces.
      coordinates: preferences.coordinates || answer !== null,
      // After a try the marks would be White's: they are shown only where that is what was wrong.
      playable: shown ? Boolean(shown.marked) : step.marked || hint !== null,
      assistance: { threats: shown ? [] : step.threats, losing: [], winning: [] },
    },
    // What may be played is a part of the question, so every cell is a try.
    { "kamon-play": onTry, "kamon-refuse": onTry },
  );
}

onPreferences(update);
open(preferences.lesson);
