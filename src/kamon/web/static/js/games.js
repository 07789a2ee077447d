// The games and studies of this browser: to resume, to look at again, to save.
import { html, nothing, render } from "../vendor/lit-html.js";
import "./board.js";
import { stillBoard } from "./cells.js";
import { errorLine } from "./parts.js";
import { ask, Latest, remove } from "./server.js";
import { announce, emptyRoot, onPreferences, preferences } from "./shell.js";
import { controlWords, errorWords, otherSide, seatWords, t } from "./words.js";

/** @typedef {import("./types").SummaryView} Summary */
/** @typedef {import("./types").StudySummary} StudySummary */

const PAGE_SIZE = 30;

const root = emptyRoot("games");
const lists = new Latest();
/** @type {Summary[]} */
let games = [];
let complete = false;
/** @type {StudySummary[]} */
let studies = [];
/** The study that will be deleted after a yes. */
let deleting = "";
let problem = "";

/** @param {Summary} game */
const opponent = ({ shared, seats, you }) =>
  shared ? t("Two players, one screen") : seatWords(seats[otherSide(you[0])]) || t("Somebody");

/** @param {Summary} game */
const isMyTurn = ({ turn, you }) => turn !== null && you.includes(turn);

/** @param {Summary} game */
function state(game) {
  if (game.status === "aborted") return t("cancelled");
  if (game.result) return resultWords(game, game.result.winner);
  if (game.status === "waiting") return t("waiting");
  return isMyTurn(game) ? t("your turn") : t("in play");
}

/** @param {Summary} game @param {import("./page").Side | null} winner */
function resultWords(game, winner) {
  if (!winner) return t("drawn");
  if (game.shared) return winner === "black" ? t("Black has won") : t("White has won");
  return game.you.includes(winner) ? t("won") : t("lost");
}

/** A small board for the eye alone. @param {Summary["board"]} shown */
function miniature(shown) {
  const board = /** @type {import("./board.js").KamonBoard} */ (document.createElement("kamon-board"));
  board.board = stillBoard(shown);
  board.edition = preferences.edition;
  board.setAttribute("aria-hidden", "true");
  return board;
}

function update() {
  render(html`${errorLine(problem)}${gameCards()}${studies.length ? studyCards() : nothing}`, root);
}

function gameCards() {
  if (!games.length) return html`<p>${t("No games yet.")} <a href="/">${t("Play one")}</a></p>`;
  return html`<ul class="cards">${games.map(gameCard)}</ul>
    ${complete ? nothing : html`<p><button type="button" @click=${fetchGames}>${t("Older games")}</button></p>`}`;
}

/** @param {Summary} game */
const gameCard = (game) => html`<li class="card ${isMyTurn(game) ? "mine" : ""}">
  <a href="/game/${game.id}">${miniature(game.board)}<strong>${opponent(game)}</strong>
  <span>${state(game)} · ${t("stones: {n}", { n: game.moves })} · ${controlWords(game.control)}</span></a>
  <a class="small" href="/api/games/${game.id}/record" download>${t("Save as PGN")}</a></li>`;

const studyCards = () => html`<h2>${t("My studies")}</h2><ul class="cards">${studies.map(studyCard)}</ul>`;

/** @param {StudySummary} study */
const studyCard = (study) => html`<li class="card">
  <a href="/study/${study.id}">${study.board ? miniature(study.board) : nothing}
  <strong>${study.title || t("A study")}</strong>
  <span>${t("stones: {n}", { n: study.moves })}</span></a>
  <a class="small" href="/api/studies/${study.id}/record" download>${t("Save as PGN")}</a>
  ${study.id === deleting ? deleteQuestion(study) : deleteButton(study)}</li>`;

/** @param {StudySummary} study */
const deleteButton = (study) => html`<button type="button" class="quiet small" data-asks=${study.id}
  aria-label=${t("Delete: {title}", { title: study.title || t("A study") })}
  @click=${() => askWhetherToDelete(study.id)}>${t("Delete")}</button>`;

/** @param {StudySummary} study */
const deleteQuestion = (study) => html`<span class="confirm">
  <button type="button" class="danger" @click=${() => deleteStudy(study.id)}>${t("Yes, delete it")}</button>
  <button type="button" class="quiet" @click=${() => askWhetherToDelete("")}>${t("No")}</button></span>`;

/** The focus goes where something changes. @param {string} id Nothing takes the question back. */
function askWhetherToDelete(id) {
  const asked = deleting;
  deleting = id;
  update();
  /** @type {HTMLElement | null} */ (root.querySelector(id ? ".confirm button" : `[data-asks="${asked}"]`))?.focus();
}

/** @param {string} id */
async function deleteStudy(id) {
  try {
    await remove(`/api/studies/${id}`);
    studies = studies.filter((study) => study.id !== id);
    announce(t("The study is deleted."));
  } catch (error) {
    problem = errorWords(/** @type {any} */ (error));
  }
  deleting = "";
  update();
}

/** Fetch the newest games, and then those before the oldest one that is shown. */
function fetchGames() {
  const oldest = games.at(-1);
  const before = oldest ? `&before=${oldest.updated}` : "";
  return lists.show(
    ask(`/api/games?which=mine&limit=${PAGE_SIZE}${before}`),
    (answer) => {
      games = [...games, ...answer.games];
      complete = answer.games.length < PAGE_SIZE;
      update();
    },
    (error) => render(html`<p class="error" role="alert">${errorWords(error)}</p>`, root),
  );
}

async function begin() {
  studies = (await ask("/api/studies").catch(() => ({ studies: [] }))).studies;
  await fetchGames();
}

onPreferences(update);
begin();
