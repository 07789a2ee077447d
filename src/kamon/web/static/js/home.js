// The home page: one click to a game, and the other ways to play.
import { html, nothing, render } from "../vendor/lit-html.js";
import "./board.js";
import { CELL_NAMES, NO_STONES, stillBoard } from "./cells.js";
import { icon, levelPicker } from "./crests.js";
import { ask, Latest } from "./server.js";
import { announce, emptyRoot, isStill, onPreferences, prefer, preferences, setCookie } from "./shell.js";
import { agoWords, isMyTurn, isShort, leftWords, miniature, opponentWords, stateWords, timeLeft } from "./summaries.js";
import { controlWords, errorWords, levelName, sideWords, t, tn } from "./words.js";

/** @typedef {import("./board.js").KamonBoard} KamonBoard */

const root = emptyRoot("ways");
const myGames = emptyRoot("my-games");
const openGames = emptyRoot("open-games");
const sample = /** @type {KamonBoard} */ (document.getElementById("sample"));

/** @typedef {import("./types").PictureView} Picture */
/** @typedef {import("./types").LobbyView} Lobby */
/** @typedef {import("./types").SummaryView} Summary */
/** @typedef {import("./page").Side} Side */
/**
 * The game that plays itself beside the title: its moves, how it ends, and the position to show if nothing may move.
 * @typedef {Picture & {moves: string[], outcome: import("./types").BoardView["outcome"]}} Sample
 */
/**
 * The puzzle of the day: how many moves are to be found, and how the visitor's first try has ended.
 * @typedef {{picture: Picture, side: Side, moves: number, result: "solved" | "missed" | null}} PuzzleCard
 */
/** @typedef {{won: boolean, level: number, stones: number}} BestGame */
/** Who could win a board of the day. @typedef {{date: string, winner: Side | null}} Proven */
/** @typedef {{picture: Picture, best: BestGame | null, yesterday: Proven | null}} DayCard */
/**
 * What the page has come with. Of days it says on how many the visitor has played, this month and in the best one.
 * @typedef {object} Told
 * @property {Lobby} lobby
 * @property {Sample} sample
 * @property {PuzzleCard | null} puzzle
 * @property {DayCard | null} day
 * @property {import("./types").FairBoardView[]} fair
 * @property {number} lessons
 * @property {{this_month: number, best_month: number} | null} [days]
 */

/** @type {Told} */
const told = JSON.parse(document.getElementById("told")?.textContent ?? "");
/** How often we look for news, in milliseconds: sooner if an opponent may move or come. */
const INTERVAL = 15_000;
const SHORT_INTERVAL = 5000;
/** A new visitor is counted among those who are here when their browser asks for the first time. */
const FIRST_LOOK = 3000;
const TICK = 1000;

const state = { busy: false, error: "", more: false };
/** The module of what is seldom chosen, once it is loaded. @type {typeof import("./home/options.js") | null} */
let options = null;
let { lobby } = told;
/** When the server told it. */
let received = Date.now();

// --- Starting a game -----------------------------------------------------------------------------

/** @param {"computer"|"friend"|"anyone"|"self"} against */
async function start(against) {
  if (state.busy) return;
  Object.assign(state, { busy: true, error: "" });
  update();
  try {
    const { level, name } = preferences;
    const game = await ask("/api/games", { against, level, name, ...(options?.wishes() ?? { side: "random" }) });
    location.href = `/game/${game.id}`;
  } catch (error) {
    Object.assign(state, { busy: false, error: errorWords(/** @type {any} */ (error)) });
    update();
  }
}

// --- What is shown -------------------------------------------------------------------------------

function update() {
  render(
    html`
    ${state.error ? html`<p class="error" role="alert">${state.error}</p>` : nothing}
    ${isNew() ? newcomerLink() : nothing}
    <p class="start">${startButton("computer", t("Play against the computer"), "primary large")}</p>
    ${levelPicker(pickLevel)}
    <div class="others">
      ${startButton("self", html`${TWO}${t("Two players on this screen")}`)}
      ${startButton("friend", html`${LETTER}${t("Invite a friend")}`)}
      ${startButton("anyone", html`${LENS}${t("Find an opponent")}`)}
    </div>
    <div class="below-ways"><details ?open=${state.more} @toggle=${onToggle}>
      <summary>${t("Colour, clock and board")}</summary>
      ${options?.panel(update) ?? nothing}
    </details>
    <p class="small people ${lobby.here > 1 ? "" : "nobody"}">${peopleWords()}</p></div>`,
    root,
  );
  options?.showArrangement(update);
}

/** Is this somebody who may not know the game yet? */
const isNew = () => preferences.learnt < told.lessons && !preferences.counted && !lobby.mine.length;

const newcomerLink = () =>
  html`<p class="newcomer"><a href="/learn">${t("New here? Learn to play in three minutes")}</a></p>`;

const peopleWords = () =>
  lobby.here > 1 ? t("People here now: {n}.", { n: lobby.here }) : t("Nobody else is here right now.");

/** What is seldom chosen is loaded when somebody wants it. @param {Event} event */
async function onToggle(event) {
  state.more = /** @type {HTMLDetailsElement} */ (event.target).open;
  if (!state.more || options) return;
  options = await import("./home/options.js");
  options.begin(told);
  update();
}

/** @param {"computer"|"friend"|"anyone"|"self"} against @param {unknown} label @param {string} [kind] */
const startButton = (against, label, kind = "") => html`<button type="button" class=${kind} ?disabled=${state.busy}
  @click=${() => start(against)}>${label}</button>`;

const TWO = icon("M8 3l4.3 2.5v5L8 13l-4.3-2.5v-5ZM16 11l4.3 2.5v5L16 21l-4.3-2.5v-5Z");
const LETTER = icon("M4 6h16v12H4ZM4 7l8 6 8-6");
const LENS = icon("M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13ZM15.5 15.5L20 20");

/** @param {number} level */
function pickLevel(level) {
  prefer({ level });
  update();
}

// --- My games, and those that wait ---------------------------------------------------------------

const lists = new Latest();

function look() {
  lists.show(ask("/api/lobby"), showLobby, () => schedule());
}

/** @param {Lobby} news */
function showLobby(news) {
  const begun = news.mine.find(({ id, status }) => status === "playing" && isWaiting(id));
  lobby = news;
  received = Date.now();
  if (begun) announce(t("Somebody has joined your game."));
  showGames();
  update();
  schedule();
}

/** Did this game of mine wait for an opponent when we looked last? @param {string} id */
const isWaiting = (id) => lobby.mine.some((game) => game.id === id && game.status === "waiting");

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Look again in a while, unless nobody looks at the page. */
function schedule() {
  clearTimeout(timer);
  const soon = lobby.mine.some((game) => !game.shared && !isMyTurn(game));
  timer = setTimeout(() => (document.hidden ? schedule() : look()), soon ? SHORT_INTERVAL : INTERVAL);
}

function showGames() {
  const { mine, open } = lobby;
  myGames.hidden = !mine.length;
  openGames.hidden = !open.length;
  render(
    html`<h2 id="mine-title">${t("Your games")}</h2><a class="small" href="/games">${t("All my games")}</a>
      <ul class="running-games">${mine.map(myGame)}</ul>`,
    myGames,
  );
  render(
    html`<h2 id="open-title">${t("Games waiting for an opponent")}</h2>
      <ul class="list">${open.map(openGame)}</ul>`,
    openGames,
  );
}

/** @param {Summary} game */
function myGame(game) {
  const left = timeLeft(game, received);
  const mine = isMyTurn(game) && !game.shared;
  return html`<li><a class="running-game ${mine ? "mine" : ""}" href="/game/${game.id}">
    <span class="thumbnail">${miniature(game.id, game.board)}</span>
    <span class="words"><strong>${opponentWords(game)}</strong>
      ${game.status === "waiting" ? nothing : html`<span class="state">${stateWords(game)}</span>`}
      <span class="small ${isShort(left) && mine ? "short" : ""}">${detailWords(game, left)}</span></span></a></li>`;
}

/** @param {Summary} game @param {number | null} left */
function detailWords(game, left) {
  if (game.status !== "waiting") return leftWords(left) || agoWords(game.age);
  if (!game.listed) return t("Send the link to your opponent");
  return game.control === "-"
    ? t("Everybody here can join it")
    : t("Keep the page of the game open so that others can join");
}

/** @param {Summary} game */
function openGame({ id, seats, control }) {
  const side = seats.black.kind === "person" ? "black" : "white";
  const plays = side === "black" ? t("plays Black") : t("plays White");
  const name = seats[side].name || t("Guest");
  return html`<li><a href="/game/${id}">${name} · ${plays} · ${controlWords(control)}</a></li>`;
}

/** Let the clocks run on between two looks; one that has run out is looked at again. */
function tick() {
  const running = lobby.mine.filter((game) => game.left.running);
  if (document.hidden || !running.length) return;
  showGames();
  if (running.some((game) => timeLeft(game, received) === 0)) look();
}

// --- Today ---------------------------------------------------------------------------------------

const daily = document.getElementById("daily");
// The places that the page has come with.
daily?.replaceChildren();
const SEAL = html`<svg class="seal" viewBox="-48 -48 96 96" aria-hidden="true"><polygon class="field"
  points="0,-44 38,-22 38,22 0,44 -38,22 -38,-22"/><path d="M-16,1L-4,13L17,-12"/></svg>`;

function showCards() {
  if (!daily) return;
  render(
    html`${told.puzzle ? puzzleCard(told.puzzle) : nothing}${told.day ? dayCard(told.day) : nothing}
      <p class="small played">${daysWords()}</p>`,
    daily,
  );
}

/**
 * A card of today: what it is, what there is to do or what was done, and what comes of it tomorrow.
 * @param {{href: string, title: string, task: unknown, state: unknown, done: boolean}} card @param {unknown} picture
 */
const card = ({ href, title, task, state: below, done }, picture) => html`<div class="daily-card ${done ? "done" : ""}">
  <span class="thumbnail">${picture}</span>
  <div><h2><a href=${href}>${title}</a></h2><p class="task">${task}</p><p class="small">${below}</p></div>
  ${SEAL}</div>`;

/** @param {PuzzleCard} puzzle */
function puzzleCard({ picture, side, moves, result }) {
  const task =
    side === "white"
      ? tn("White to play: {n} move to find", "White to play: {n} moves to find", moves)
      : tn("Black to play: {n} move to find", "Black to play: {n} moves to find", moves);
  const said = { solved: t("Solved!"), missed: t("Tried. Have another look?") };
  return card(
    {
      href: "/puzzles/day",
      title: t("Puzzle of the day"),
      task: result ? said[result] : task,
      state: t("There is a new one every day."),
      done: result === "solved",
    },
    miniature("puzzle", picture),
  );
}

/** Say on how many days the visitor has played, if they want to know. Nobody can lose what they have. */
function daysWords() {
  const { this_month: now, best_month: best } = told.days ?? { this_month: 0, best_month: 0 };
  if (!(preferences.days && now)) return "";
  const words = tn("You have played on {n} day this month", "You have played on {n} days this month", now);
  return best > now ? `${words} · ${t("best month: {n}", { n: best })}` : words;
}

/** @param {DayCard} day */
function dayCard({ picture, best, yesterday }) {
  return card(
    {
      href: "/day",
      title: t("Board of the day"),
      task: best ? bestWords(best) : t("Everybody plays the same board."),
      state: yesterday ? yesterdayWords(yesterday) : t("Tomorrow you can see who should have won."),
      done: Boolean(best?.won),
    },
    miniature("day", picture),
  );
}

/** @param {BestGame} best */
function bestWords({ won, level, stones }) {
  const name = levelName(level);
  return won
    ? tn("You beat {name} in a game of {n} stone.", "You beat {name} in a game of {n} stones.", stones, {
        name,
      })
    : t("You have played {name}. Try again?", { name });
}

/** @param {Proven} yesterday */
function yesterdayWords({ date, winner }) {
  const words = winner
    ? t("Yesterday’s board: {side} should have won.", { side: sideWords(winner) })
    : t("Yesterday’s board: it should have been a draw.");
  return html`${words} <a class="above" href="/day?date=${date}">${t("See how")}</a>`;
}

// --- A game that plays itself ----------------------------------------------------------------------

/** How long a move and the end of the game are shown, in milliseconds. */
const MOVE_TIME = 1500;
const END_TIME = 6000;
/** How many moves of the sample have been played. */
let played = 0;

/** The sample after some moves. @param {number} count */
function sampleAfter(count) {
  const { tokens, moves, outcome } = told.sample;
  const stones = [...NO_STONES];
  for (const [at, cell] of moves.slice(0, count).entries()) stones[CELL_NAMES.indexOf(cell)] = at % 2 ? "o" : "x";
  const last = moves[count - 1] ?? null;
  const need = last && tokens[CELL_NAMES.indexOf(last)];
  return {
    ...stillBoard({ tokens, stones: stones.join(""), last, need }),
    outcome: count === moves.length ? outcome : null,
  };
}

/** Play the next move of the sample, if anybody looks and things may move. */
function playSample() {
  const { moves } = told.sample;
  if (!(document.hidden || isStill())) {
    played = (played + 1) % (moves.length + 1);
    sample.board = sampleAfter(played);
    sample.landed = sample.board.last;
    sample.update();
  }
  setTimeout(playSample, played === moves.length ? END_TIME : MOVE_TIME);
}

// --- The page ------------------------------------------------------------------------------------

/** Show the boards that are only to be looked at. */
function showPictures() {
  sample.edition = preferences.edition;
  sample.update();
  showCards();
  const lead = document.getElementById("lead");
  if (lead && preferences.edition === "2007") lead.textContent = leadOf2007();
}

/** In the edition of 2007 tokens have no colours, but numbers. */
const leadOf2007 = () =>
  t(
    "Put a stone on a token with the same symbol as your opponent’s last one, or with the same number of symbols. You win if you connect two opposite edges, close a loop, or block your opponent.",
  );

played = [...told.sample.stones].filter((sign) => sign !== ".").length;
sample.board = sampleAfter(played);
onPreferences(() => {
  showPictures();
  showGames();
  update();
});
// So that the page comes without the way to the tutorial the next time.
if (!isNew()) setCookie("kamon-learnt", "yes");
showPictures();
showGames();
update();
setTimeout(playSample, 2 * MOVE_TIME);
timer = setTimeout(look, FIRST_LOOK);
setInterval(tick, TICK);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});
// A page that comes back by the browser's Back button shows old games until it has asked again.
addEventListener("pageshow", (event) => {
  if (event.persisted) look();
});
