// The tutorial: small boards on which one plays, with an answer to every try.
import { html, nothing, render } from "../vendor/lit-html.js";
import { CELL_NAMES, tokenPicture } from "./board.js";
import { ask, errorWords, onPreferences, prefer, preferences } from "./shell.js";
import { play as playSound } from "./sound.js";
import { needWords, t, tokenWords } from "./words.js";

/** @typedef {import("./types").Board} Board */
/** @typedef {import("./types").Lesson} Lesson */
/** @typedef {import("./board.js").KamonBoard} KamonBoard */

const root = /** @type {HTMLElement} */ (document.getElementById("learn"));
root.replaceChildren();
const live = /** @type {HTMLElement} */ (document.getElementById("live"));

// Long enough to see the stone and then the answer, short enough not to wait for them.
const STONE_TIME = 900, LOOK_TIME = 2600;
const TRIES_ALONE = 2;

/** @type {Lesson | null} */
let lesson = null;
/** What is said about the last try, in the words of the edition. @type {{good: boolean, say: () => string} | null} */
let answer = null;
/** The try that is on the board, and what came of it. @type {{cell: string, board: Board, marked?: boolean} | null} */
let shown = null;
/** A right cell that the learner has asked for. @type {string | null} */
let hint = null;
let wrong = 0;
let error = "";
let busy = false;
/** @type {number | undefined} */
let timer;

/** @param {string} text @param {Board} board @param {Board | null} [after] */
const filled = (text, board, after) => t(text, {
  need: board.need ? needWords(board.need, preferences.edition) : "",
  cells: after ? after.legal.join(" ") : "",
});

/** Tell it aloud, even if it was the last thing said. @param {string[]} sentences */
const announce = (...sentences) => live.replaceChildren(sentences.filter(Boolean).join(" "));

/** @param {number} number @returns {Promise<void>} */
async function open(number) {
  clearTimeout(timer);
  try {
    lesson = /** @type {Lesson} */ (await ask(`/api/lessons/${number}`));
    error = "";
  } catch (problem) {
    // What a browser has kept may be a step that there is no more.
    if (!lesson && number !== 1) return open(1);
    error = errorWords(/** @type {any} */ (problem));
    return update();
  }
  answer = hint = null;
  wrong = 0;
  takeBack();
  announce(filled(lesson.text, lesson.board));
}

/** Go to another step, and let those who listen hear its title first. @param {number} number */
async function turnTo(number) {
  prefer({ lesson: number });
  await open(number);
  root.querySelector("h2")?.focus();
}

/** @param {string} cell */
function attempt(cell) {
  if (!lesson || answer?.good || shown?.cell === cell) return;
  clearTimeout(timer);
  shown = hint = null;
  const result = lesson.tries[cell];
  const { board } = lesson;
  answer = { good: result.good, say: () => filled(result.why, board, result.board) };
  if (result.board) put({ cell, board: result.board, marked: result.why.includes("{cells}") });
  if (result.good) return succeed();
  wrong += 1;
  if (result.after) showReply(cell, result.after);
  else if (result.board) timer = setTimeout(takeBack, LOOK_TIME);
  const replied = result.reply ? t("{player} has played {cell}: {token}.", { player: t("White"), cell: result.reply, token: wordsAt(result.reply) }) : "";
  announce(replied, answer.say());
  update();
}

/** @param {string} cell */
const wordsAt = (cell) => lesson ? tokenWords(lesson.board.tokens[CELL_NAMES.indexOf(cell)], preferences.edition) : "";

/** Put a stone down. @param {NonNullable<typeof shown>} stone */
function put(stone) {
  shown = stone;
  const element = boardElement();
  if (element) element.landed = stone.board.last;
  if (preferences.sound) playSound("stone");
}

/** Let White answer after a moment; those who want no movement see the end of it at once. @param {string} cell @param {Board} after */
function showReply(cell, after) {
  const still = !preferences.motion || matchMedia("(prefers-reduced-motion: reduce)").matches;
  timer = setTimeout(() => {
    put({ cell, board: after });
    update();
    timer = setTimeout(takeBack, LOOK_TIME);
  }, still ? 0 : STONE_TIME);
}

function takeBack() {
  shown = null;
  const element = boardElement();
  if (element) element.landed = null;
  update();
}

function succeed() {
  if (!lesson) return;
  prefer({ learnt: Math.max(lesson.number, preferences.learnt), lesson: Math.min(lesson.number + 1, lesson.count) });
  if (preferences.sound && shown?.board.outcome) playSound("end");
  announce(lesson.done);
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
  boardElement()?.focusCell(cell);
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
    error = errorWords(/** @type {any} */ (problem));
    update();
  }
}

const boardElement = () => /** @type {KamonBoard | null} */ (root.querySelector("kamon-board"));

/** @param {Lesson} step */
function progress(step) {
  const place = t("Step {n} of {count}", { n: step.number, count: step.count });
  return html`<p class="progress"><span class="small">${place}</span><span class="dots" aria-hidden="true">${Array.from({ length: step.count }, (_, at) =>
    html`<i class="${at + 1 === step.number ? "here" : ""} ${at < preferences.learnt ? "learnt" : ""}"></i>`)}</span></p>`;
}

/** @param {Lesson} step */
function need(step) {
  if (!step.board.need || answer?.good) return nothing;
  return html`<div class="need"><div class="need-token">${tokenPicture(step.board.need, preferences.edition)}</div>
    <p><span class="small">${t("To match")}</span><br><strong>${needWords(step.board.need, preferences.edition)}</strong></p></div>`;
}

/** @param {Lesson} step */
function buttons(step) {
  const last = step.number === step.count, learnt = step.number <= preferences.learnt;
  return html`<div class="row">
    ${learnt && !last ? html`<button type="button" class="primary" @click=${() => turnTo(step.number + 1)}>${t("Next")}</button>` : nothing}
    ${learnt && last ? html`<button type="button" class="primary" ?disabled=${busy} @click=${startGame}>${t("Play your first game")}</button>` : nothing}
    ${wrong >= TRIES_ALONE && !answer?.good && !hint ? html`<button type="button" @click=${help}>${t("Show me")}</button>` : nothing}
    ${step.number > 1 ? html`<button type="button" class="quiet" @click=${() => turnTo(step.number - 1)}>${t("Back")}</button>` : nothing}
    ${learnt && last ? html`<button type="button" class="quiet" @click=${() => turnTo(1)}>${t("Start again")}</button>` : nothing}
  </div>`;
}

function update() {
  if (!lesson) {
    if (error) render(html`<p class="error" role="alert">${error}</p>`, root);
    return;
  }
  render(html`
    <header class="lesson">${progress(lesson)}<h2 tabindex="-1">${lesson.title}</h2><p>${filled(lesson.text, lesson.board)}</p></header>
    <section class="table" aria-label=${t("Board")}>
      <kamon-board></kamon-board>
      <div class="player black"><span class="chip black" aria-hidden="true"></span><span class="who">${t("You play Black.")}</span></div>
    </section>
    <aside class="panel">
      ${error ? html`<p class="error" role="alert">${error}</p>` : nothing}
      ${need(lesson)}
      ${answer ? html`<p class="answer ${answer.good ? "good" : hint ? "hint" : "wrong"}">${answer.say()}</p>` : nothing}
      ${buttons(lesson)}
    </aside>`, root);
  showBoard(lesson);
}

/** @param {Lesson} step */
function showBoard(step) {
  const element = boardElement();
  if (!element) return;
  if (!element.dataset.ready) {
    element.dataset.ready = "yes";
    // What may be played is a part of the question, so every cell is a try.
    for (const kind of ["kamon-play", "kamon-refuse"])
      element.addEventListener(kind, (event) => attempt(/** @type {CustomEvent<{cell: string}>} */ (event).detail.cell));
  }
  element.board = shown?.board ?? (hint ? { ...step.board, legal: [hint], replies: {} } : step.board);
  element.edition = preferences.edition;
  element.coordinates = preferences.coordinates;
  // After a try marks would be White's: they are shown where that is what was wrong.
  element.playable = shown ? !!shown.marked : step.marked || !!hint;
  element.assistance = { threats: shown ? [] : step.threats, losing: [], winning: [] };
  element.label = t("Board");
  element.update();
}

onPreferences(update);
open(preferences.lesson);
