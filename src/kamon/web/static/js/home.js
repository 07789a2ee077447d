// The home page: one click to a game, and the other ways to play.
import { html, nothing, render } from "../vendor/lit-html.js";
import "./board.js";
import { boardToArrange, CELL_NAMES, inRows, stillBoard, swapped, tokensIn } from "./cells.js";
import { ask, Latest } from "./server.js";
import { emptyRoot, onPreferences, prefer, preferences } from "./shell.js";
import { controlWords, errorWords, LEVEL_COUNT, levelDescription, levelName, t } from "./words.js";

/** @typedef {import("./board.js").KamonBoard} KamonBoard */

const root = emptyRoot("ways");
const openGames = /** @type {HTMLElement} */ (document.getElementById("open-games"));
const sample = /** @type {KamonBoard} */ (document.getElementById("sample"));

// A position from the middle of a game: drawn beside the title, and a start for boards of one's own.
const SAMPLE_TOKENS = tokensIn("B4B1D6E6F6F5F3D3F2B3A4C3E3D4E4A1C5B2E1D1C2A5E2D2B5F4E5C1F1C4A2--C6A3D5A6B6");
const SAMPLE_STONES = "...oox..........x.oo......x.o.x.x.xx.";
const CONTROLS = ["-", "180+2", "300+3", "600+5", "900+10", "1/86400", "1/259200", "1/604800"];
const NO_DIGIT = /\D/gu;
const OPEN_GAMES_INTERVAL = 15_000;

/** What the visitor wishes for. @type {Record<"side" | "control" | "board" | "seed" | "layout", string>} */
const choice = { side: "random", control: "-", board: "shuffled", seed: "", layout: "" };
const state = { busy: false, error: "", more: false };
/** The token that waits for another to change places with. @type {string | null} */
let held = null;

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
    ...(board === "own" ? { layout: layout.trim() } : {}),
  };
}

// --- What is shown -------------------------------------------------------------------------------

function update() {
  render(
    html`
    ${state.error ? html`<p class="error" role="alert">${state.error}</p>` : nothing}
    <p>${startButton("computer", t("Play against the computer"), "primary large")}</p>
    ${levelSlider()}
    <div class="others">
      ${startButton("self", t("Two players on this screen"))}
      ${startButton("friend", t("Invite a friend"))}
      ${startButton("anyone", t("Find an opponent"))}
    </div>
    <details ?open=${state.more} @toggle=${onToggle}>
      <summary>${t("Colour, clock and board")}</summary>
      <fieldset><legend>${t("You play")}</legend>
        ${radio("side", "random", t("at random"))}
        ${radio("side", "black", t("Black, first"))}
        ${radio("side", "white", t("White, second"))}
      </fieldset>
      <label>${t("Clock")} <select @change=${choose("control")}>
        ${CONTROLS.map((control) => option(control))}
      </select></label>
      <label>${t("Your name")} <input type="text" maxlength="40" autocomplete="nickname" .value=${preferences.name}
        @change=${(/** @type {Event} */ event) => prefer({ name: inputValue(event).trim() })}></label>
      <fieldset><legend>${t("Board")}</legend>
        ${radio("board", "shuffled", t("shuffled"))}
        ${radio("board", "seed", t("by number"))}
        ${radio("board", "own", t("my own"))}
        ${choice.board === "seed" ? seedField() : nothing}
        ${choice.board === "own" ? layoutField() : nothing}
      </fieldset>
    </details>`,
    root,
  );
  showArrangement();
}

/** @param {Event} event */
const inputValue = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** @param {keyof typeof choice} name */
const choose = (name) => (/** @type {Event} */ event) => {
  choice[name] = inputValue(event);
  if (name === "board" && choice.board === "own") choice.layout ||= inRows(SAMPLE_TOKENS);
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

// --- Games that wait -----------------------------------------------------------------------------

const lists = new Latest();

function fetchOpenGames() {
  lists.show(
    ask("/api/games?which=open&limit=20"),
    ({ games }) => showOpenGames(games),
    () => showOpenGames([]),
  );
}

/** @param {import("./types").SummaryView[]} games */
function showOpenGames(games) {
  const others = games.filter((game) => !game.you.length);
  openGames.hidden = !others.length;
  render(
    html`<h2 id="open-title">${t("Games waiting for an opponent")}</h2>
      <ul class="list">${others.map(openGame)}</ul>`,
    openGames,
  );
}

/** @param {import("./types").SummaryView} game */
function openGame({ id, seats, control }) {
  const side = seats.black.kind === "person" ? "black" : "white";
  const plays = side === "black" ? t("plays Black") : t("plays White");
  const name = seats[side].name || t("Somebody");
  return html`<li><a href="/game/${id}">${name} · ${plays} · ${controlWords(control)}</a></li>`;
}

function showSample() {
  sample.edition = preferences.edition;
  sample.update();
}

sample.board = stillBoard({ tokens: SAMPLE_TOKENS, stones: SAMPLE_STONES, last: "c4", need: "B2" });
onPreferences(showSample);
showSample();
update();
fetchOpenGames();
setInterval(() => {
  if (!document.hidden) fetchOpenGames();
}, OPEN_GAMES_INTERVAL);
