// The games that this browser took part in: to resume, to look at again, to keep.
import { html, render } from "../vendor/lit-html.js";
import "./board.js";
import { ask, controlWords, errorWords, onPreferences, preferences } from "./shell.js";
import { levelName, t } from "./words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("games"));
root.replaceChildren();
/** @type {import("./types").Summary[]} */
let games = [];
let complete = false;
/** @type {import("./types").StudySummary[]} */
let studies = [];

/** @param {import("./types").Summary} game */
function opponent(game) {
  if (game.shared) return t("Two at one screen");
  const seat = game.seats[game.you[0] === "black" ? "white" : "black"];
  if (seat.kind === "computer") return t("Computer, level {n} ({name})", { n: seat.level, name: levelName(seat.level) });
  return seat.kind === "open" ? t("waiting for an opponent") : seat.name || t("Somebody");
}

/** @param {import("./types").Summary} game */
function state(game) {
  if (game.status === "aborted") return t("aborted");
  if (game.result) {
    if (!game.result.winner) return t("drawn");
    if (game.shared) return game.result.winner === "black" ? t("Black has won") : t("White has won");
    return game.you.includes(game.result.winner) ? t("won") : t("lost");
  }
  if (game.status === "waiting") return t("waiting");
  if (game.turn && game.you.includes(game.turn)) return t("your turn");
  return t("in play");
}

/** @param {import("./types").Summary["board"]} shown */
function miniature(shown) {
  const element = document.createElement("kamon-board");
  const board = /** @type {import("./board.js").KamonBoard} */ (element);
  board.board = { ...shown, turn: null, need: null, legal: [], replies: {}, outcome: null };
  board.edition = preferences.edition;
  board.setAttribute("aria-hidden", "true");
  return board;
}

function update() {
  render(html`${gameCards()}${studyCards()}`, root);
}

function gameCards() {
  if (!games.length) return html`<p>${t("No games yet.")} <a href="/">${t("Play one")}</a></p>`;
  return html`<ul class="cards">${games.map((game) => html`<li class="card ${game.turn && game.you.includes(game.turn) ? "mine" : ""}">
      <a href="/game/${game.id}">${miniature(game.board)}<strong>${opponent(game)}</strong>
      <span>${state(game)} · ${t("moves: {n}", { n: game.moves })} · ${controlWords(game.control)}</span></a>
      <a class="small" href="/api/games/${game.id}/record" download>${t("Save as PGN")}</a></li>`)}</ul>
    ${complete ? "" : html`<p><button type="button" @click=${more}>${t("Older games")}</button></p>`}`;
}

function studyCards() {
  if (!studies.length) return "";
  return html`<h2>${t("My studies")}</h2><ul class="cards">${studies.map((study) => html`<li class="card">
      <a href="/study/${study.id}">${miniature(study.board)}<strong>${study.title || t("A study")}</strong>
      <span>${t("moves: {n}", { n: study.moves })}</span></a>
      <a class="small" href="/api/studies/${study.id}/record" download>${t("Save as PGN")}</a></li>`)}</ul>`;
}

async function more() {
  const before = games.length ? `&before=${games[games.length - 1].updated}` : "";
  try {
    const answer = await ask(`/api/games?which=mine&limit=30${before}`);
    games = [...games, ...answer.games];
    complete = answer.games.length < 30;
    update();
  } catch (error) {
    render(html`<p class="error" role="alert">${errorWords(/** @type {any} */ (error))}</p>`, root);
  }
}

async function begin() {
  studies = (await ask("/api/studies").catch(() => ({ studies: [] }))).studies;
  await more();
}

onPreferences(update);
begin();
