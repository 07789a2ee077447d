// The home page: one click to a game, and the other ways to play.
import { html, nothing, render } from "../vendor/lit-html.js";
import "./board.js";
import { boardToArrange, CELL_NAMES, inRows, shuffled, stillBoard, swapped, tokensIn } from "./cells.js";
import { ask, Latest } from "./server.js";
import { announce, emptyRoot, onPreferences, prefer, preferences, setCookie } from "./shell.js";
import { agoWords, isMyTurn, isShort, leftWords, miniature, opponentWords, stateWords, timeLeft } from "./summaries.js";
import { controlWords, errorWords, LEVEL_COUNT, levelDescription, levelName, t, tn } from "./words.js";

/** @typedef {import("./board.js").KamonBoard} KamonBoard */
/** @typedef {import("./types").FairBoardView} FairBoard */
/** @typedef {import("./types").LobbyView} Lobby */
/** @typedef {import("./types").SummaryView} Summary */

const root = emptyRoot("ways");
const myGames = emptyRoot("my-games");
const openGames = emptyRoot("open-games");
const sample = /** @type {KamonBoard} */ (document.getElementById("sample"));

/** @typedef {import("./types").PictureView} Picture */
/**
 * What the page has come with: the lobby, the position beside the title, the board of the day, the fair boards, and
 * how many steps the tutorial has.
 * @type {{lobby: Lobby, sample: Picture, day: Picture | null, puzzle: Picture | null, fair: FairBoard[],
 *   lessons: number}}
 */
const told = JSON.parse(document.getElementById("told")?.textContent ?? "");
const CONTROLS = ["-", "180+2", "300+3", "600+5", "900+10", "1/86400", "1/259200", "1/604800"];
const NO_DIGIT = /\D/gu;
/** How often we look for news, in milliseconds: sooner if an opponent may move or come. */
const INTERVAL = 15_000;
const SHORT_INTERVAL = 5000;
/** A new visitor is counted among those who are here when their browser asks for the first time. */
const FIRST_LOOK = 3000;
const TICK = 1000;

/** What the visitor wishes for. @type {Record<"side" | "control" | "board" | "seed" | "layout", string>} */
const choice = { side: "random", control: "-", board: "shuffled", seed: "", layout: "" };
const state = { busy: false, error: "", more: false };
/** The token that waits for another to change places with. @type {string | null} */
let held = null;
/** The fair board that can be chosen, if there is one. */
const fair = shuffled(told.fair).at(0);
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
    const game = await ask("/api/games", wish(against));
    location.href = `/game/${game.id}`;
  } catch (error) {
    Object.assign(state, { busy: false, error: errorWords(/** @type {any} */ (error)) });
    update();
  }
}

/** @param {string} against */
function wish(against) {
  const { side, control, board, seed, layout } = choice;
  const { level, name } = preferences;
  return {
    against,
    side,
    level,
    control,
    name,
    ...(board === "seed" && seed ? { seed } : {}),
    ...(board === "fair" && fair ? { seed: fair.seed } : {}),
    ...(board === "own" ? { layout: layout.trim() } : {}),
  };
}

// --- What is shown -------------------------------------------------------------------------------

function update() {
  render(
    html`
    ${state.error ? html`<p class="error" role="alert">${state.error}</p>` : nothing}
    ${hasLearnt() ? nothing : newcomerLink()}
    <p>${startButton("computer", t("Play against the computer"), "primary large")}</p>
    ${levelSlider()}
    <div class="others">
      ${startButton("self", t("Two players on this screen"))}
      ${startButton("friend", t("Invite a friend"))}
      ${startButton("anyone", t("Find an opponent"))}
    </div>
    <p class="small people">${peopleWords()}</p>
    <details ?open=${state.more} @toggle=${onToggle}>
      <summary>${t("Colour, clock and board")}</summary>
      <fieldset><legend>${t("You play")}</legend>
        ${radio("side", "random", t("at random"))}
        ${radio("side", "black", t("Black (goes first)"))}
        ${radio("side", "white", t("White (goes second)"))}
      </fieldset>
      <label>${t("Clock")} <select @change=${choose("control")}>
        ${CONTROLS.map((control) => option(control))}
      </select></label>
      <label>${t("Your name")} <input type="text" maxlength="40" autocomplete="nickname" .value=${preferences.name}
        @change=${(/** @type {Event} */ event) => prefer({ name: inputValue(event).trim() })}></label>
      <fieldset><legend>${t("Board")}</legend>
        ${radio("board", "shuffled", t("shuffled"))}
        ${fair ? radio("board", "fair", t("a fair board")) : nothing}
        ${radio("board", "seed", t("by number"))}
        ${radio("board", "own", t("my own"))}
        ${fair && choice.board === "fair" ? html`<p class="small">${fairWords(fair)}</p>` : nothing}
        ${choice.board === "seed" ? seedField() : nothing}
        ${choice.board === "own" ? layoutField() : nothing}
      </fieldset>
    </details>`,
    root,
  );
  showArrangement();
}

const hasLearnt = () => preferences.learnt >= told.lessons;

const newcomerLink = () =>
  html`<p class="newcomer"><a href="/learn">${t("New here? Learn to play in three minutes")}</a></p>`;

const peopleWords = () =>
  lobby.here > 1 ? t("People here now: {n}.", { n: lobby.here }) : t("Nobody else is here right now.");

/** @param {Event} event */
const inputValue = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** @param {keyof typeof choice} name */
const choose = (name) => (/** @type {Event} */ event) => {
  choice[name] = inputValue(event);
  if (name === "board" && choice.board === "own") choice.layout ||= inRows(told.sample.tokens);
  update();
};

/** @param {Event} event */
function onToggle(event) {
  state.more = /** @type {HTMLDetailsElement} */ (event.target).open;
}

/** @param {"computer"|"friend"|"anyone"|"self"} against @param {string} label @param {string} [kind] */
const startButton = (against, label, kind = "") => html`<button type="button" class=${kind} ?disabled=${state.busy}
  @click=${() => start(against)}>${label}</button>`;

function levelSlider() {
  const { level } = preferences;
  const onInput = (/** @type {Event} */ event) => {
    prefer({ level: Number(inputValue(event)) });
    update();
  };
  return html`<label class="level"><span>${t("Level {n}: {name}", { n: level, name: levelName(level) })}</span>
    <input type="range" min="1" max=${LEVEL_COUNT} .value=${String(level)} aria-valuetext=${levelName(level)}
      @input=${onInput}>
    <span class="small">${levelDescription(level)}</span></label>`;
}

/** @param {"side" | "board"} name @param {string} value @param {string} label */
const radio = (name, value, label) => html`<label class="pill"><input type="radio" name=${name} value=${value}
  .checked=${value === choice[name]} @change=${choose(name)}><span>${label}</span></label>`;

/** @param {string} control */
const option = (control) =>
  html`<option value=${control} ?selected=${control === choice.control}>${controlWords(control)}</option>`;

function seedField() {
  const onInput = (/** @type {Event} */ event) => {
    choice.seed = inputValue(event).replace(NO_DIGIT, "");
  };
  return html`<label>${t("Board number")} <input type="text" inputmode="numeric" pattern="[0-9]{1,20}"
    maxlength="20" .value=${choice.seed} @input=${onInput}></label>`;
}

/** Say what is proven about a fair board, and not which first moves win. @param {FairBoard} board */
function fairWords({ winner, winning, first_moves }) {
  if (!winner) return t("Neither player can force a win on this board. (The computer has checked.)");
  return tn(
    "It is proven that {n} of the {count} first moves wins on this board, and the others do not.",
    "It is proven that {n} of the {count} first moves win on this board, and the others do not.",
    winning,
    { count: first_moves },
  );
}

const layoutField = () => html`<label>${t("Tokens row by row from the top, rows separated by /")}
    <textarea rows="3" maxlength="200" spellcheck="false" .value=${choice.layout}
      @input=${choose("layout")}></textarea></label>
  <p class="small">${t("Or arrange them by hand: choose two tokens to swap them.")}</p>
  <kamon-board id="arrange"></kamon-board>`;

// --- A board of one's own ------------------------------------------------------------------------

/** Show the layout as it is written, if it can be read, and let tokens change places. */
function showArrangement() {
  const editor = /** @type {KamonBoard | null} */ (document.getElementById("arrange"));
  if (!editor) return;
  const tokens = tokensIn(choice.layout);
  editor.hidden = tokens.length !== CELL_NAMES.length;
  if (editor.hidden) return;
  if (!editor.dataset.ready) {
    editor.dataset.ready = "yes";
    editor.addEventListener("kamon-play", (event) => onChosen(/** @type {CustomEvent} */ (event).detail.cell));
  }
  Object.assign(editor, {
    edition: preferences.edition,
    playable: true,
    label: t("Arrange the board"),
    board: boardToArrange({ tokens }, held),
    resting: held,
  });
  editor.update();
}

/** @param {string} cell */
function onChosen(cell) {
  if (held) choice.layout = inRows(swapped(tokensIn(choice.layout), held, cell));
  held = held ? null : cell;
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
  return game.control === "-" ? t("Everybody here can join it") : t("Keep the game open so that others can find it");
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

// --- The page ------------------------------------------------------------------------------------

/** Show the boards that are only to be looked at: the sample, and the board of the day. */
function showPictures() {
  for (const board of [sample, today, puzzle]) {
    if (board) board.edition = preferences.edition;
    board?.update();
  }
}

const today = /** @type {KamonBoard | null} */ (document.getElementById("today"));
if (today && told.day) Object.assign(today, { board: stillBoard(told.day), small: true });
const puzzle = /** @type {KamonBoard | null} */ (document.getElementById("puzzle"));
if (puzzle && told.puzzle) Object.assign(puzzle, { board: stillBoard(told.puzzle), small: true });
const { tokens, stones, last } = told.sample;
sample.board = stillBoard({ tokens, stones, last, need: last && tokens[CELL_NAMES.indexOf(last)] });
onPreferences(() => {
  showPictures();
  showGames();
});
// So that the page comes without the way to the tutorial the next time.
if (hasLearnt()) setCookie("kamon-learnt", "yes");
showPictures();
showGames();
update();
timer = setTimeout(look, FIRST_LOOK);
setInterval(tick, TICK);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});
// A page that comes back by the browser's Back button is as old as it was left.
addEventListener("pageshow", (event) => {
  if (event.persisted) look();
});
