// The games and studies of this browser: to resume, to look at again, to save.
import { html, nothing, render } from "../vendor/lit-html.js";
import { emptyPlace } from "./crests.js";
import { errorLine } from "./parts.js";
import { ask, Latest, remove } from "./server.js";
import { announce, emptyRoot, onPreferences } from "./shell.js";
import {
  agoWords,
  fate,
  isMyTurn,
  isoMoment,
  isShort,
  leftWords,
  miniature,
  opponentWords,
  stateWords,
  timeLeft,
} from "./summaries.js";
import { controlWords, errorWords, t } from "./words.js";

/** @typedef {import("./types").SummaryView} Summary */
/** @typedef {import("./types").StudySummary} StudySummary */
/** @typedef {"all" | "running" | "finished" | "won" | "lost"} Filter */

const PAGE_SIZE = 30;
/** The server does not know who has won, so for one click so many pages are looked through. */
const PAGES_AT_ONCE = 4;
const TICK = 1000;

const root = emptyRoot("games");
const lists = new Latest();
/** @type {Filter} */
let filter = "all";
/** Those of the filter that have been fetched. @type {Summary[]} */
let games = [];
/** The last one that the server has told, whether it is shown or not. @type {Summary | null} */
let oldest = null;
let complete = false;
/** Has the visitor any game at all? */
let any = false;
let received = Date.now();
/** @type {StudySummary[]} */
let studies = [];
/** The study that will be deleted after a yes. */
let deleting = "";
let problem = "";

function update() {
  render(
    html`${errorLine(problem)}${any ? filters() : nothing}${gameCards()}${studies.length ? studyCards() : nothing}`,
    root,
  );
}

const filters = () => html`<fieldset class="filters"><legend class="hidden">${t("Which games")}</legend>
  ${pill("all", t("All"))}${pill("running", t("Running"))}${pill("finished", t("Finished"))}
  ${pill("won", t("Won"))}${pill("lost", t("Lost"))}</fieldset>`;

/** @param {Filter} value @param {string} label */
const pill = (value, label) => html`<label class="pill"><input type="radio" name="filter" value=${value}
  .checked=${value === filter} @change=${() => choose(value)}><span>${label}</span></label>`;

function gameCards() {
  if (!any)
    return emptyPlace(
      t("Your games will appear here. You can continue them or look at them again."),
      "/",
      t("Play a game"),
    );
  const more = html`<p><button type="button" @click=${fetchGames}>${t("Older games")}</button></p>`;
  return html`${games.length ? html`<ul class="cards">${games.map(gameCard)}</ul>` : nothing}
    ${games.length || !complete ? nothing : html`<p class="note">${t("No games match.")}</p>`}
    ${complete ? nothing : more}`;
}

/** @param {Summary} game */
function gameCard(game) {
  const left = timeLeft(game, received);
  const mine = isMyTurn(game) && !game.shared;
  return html`<li class="card ${mine ? "mine" : ""}">
    <a href="/game/${game.id}">${miniature(game.id, game.board)}<strong>${opponentWords(game)}</strong>
    <span class="state ${fate(game) ?? ""}">${stateWords(game)}${
      left === null ? nothing : html` · <span class=${isShort(left) ? "short" : ""}>${leftWords(left)}</span>`
    }</span>
    <span class="small">${t("stones: {n}", { n: game.moves })} · ${controlWords(game.control)}</span>
    <time class="small" datetime=${isoMoment(game.age)}>${agoWords(game.age)}</time></a>
    <a class="small" href="/api/games/${game.id}/record" download>${t("Save as PGN")}</a></li>`;
}

const studyCards = () => html`<h2>${t("My studies")}</h2><ul class="cards">${studies.map(studyCard)}</ul>`;

/** @param {StudySummary} study */
const studyCard = (study) => html`<li class="card">
  <a href="/study/${study.id}">${study.board ? miniature(study.id, study.board) : nothing}
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

// --- Fetching ------------------------------------------------------------------------------------

/** @param {Filter} wished */
function choose(wished) {
  filter = wished;
  games = [];
  oldest = null;
  complete = false;
  return fetchGames();
}

/** @param {Summary} game */
const isWanted = (game) => (filter === "won" || filter === "lost" ? fate(game) === filter : true);

/** One page of games from the server, before the oldest that it has told. @param {Summary | null} last */
function askForPage(last) {
  const state = { all: "", running: "&state=running", finished: "&state=finished" };
  const which = filter === "won" || filter === "lost" ? state.finished : state[filter];
  const before = last ? `&before=${last.updated}` : "";
  return ask(`/api/games?which=mine&limit=${PAGE_SIZE}${which}${before}`);
}

/** Look through some pages, until there are enough games to show. */
async function collect() {
  /** @type {Summary[]} */
  const found = [];
  let last = oldest;
  for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
    // biome-ignore lint/performance/noAwaitInLoops: each page begins where the one before ends.
    const answer = await askForPage(last);
    last = answer.games.at(-1) ?? last;
    found.push(...answer.games.filter(isWanted));
    if (answer.games.length < PAGE_SIZE) return { found, last, end: true };
    if (found.length >= PAGE_SIZE) break;
  }
  return { found, last, end: false };
}

/** Fetch the newest games of the filter, and then those before the oldest. */
function fetchGames() {
  return lists.show(
    collect(),
    ({ found, last, end }) => {
      games = [...games, ...found];
      any ||= games.length > 0;
      oldest = last;
      complete = end;
      received = Date.now();
      problem = "";
      update();
    },
    (error) => {
      problem = errorWords(error);
      update();
    },
  );
}

async function begin() {
  const [kept] = await Promise.all([ask("/api/studies").catch(() => ({ studies: [] })), fetchGames()]);
  ({ studies } = kept);
  update();
}

onPreferences(update);
begin();
setInterval(() => {
  if (!document.hidden && games.some((game) => game.left.running)) update();
}, TICK);
