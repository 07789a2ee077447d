// The home page: one click to a game, and the other ways to play.
import { html, nothing, render } from "../vendor/lit-html.js";
import "./board.js";
import { ask, controlWords, errorWords, onPreferences, prefer, preferences } from "./shell.js";
import { levelCount, levelDescription, levelName, t } from "./words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("ways"));
root.replaceChildren();
const openGames = /** @type {HTMLElement} */ (document.getElementById("open-games"));
const sample = /** @type {import("./board.js").KamonBoard} */ (document.getElementById("sample"));

// A position from the middle of a game: drawn beside the title, and a start for boards of one's own.
const SAMPLE = "B4B1D6E6F6F5F3D3F2B3A4C3E3D4E4A1C5B2E1D1C2A5E2D2B5F4E5C1F1C4A2--C6A3D5A6B6";

const choice = { side: "random", control: "-", board: "shuffled", seed: "", layout: "" };
const state = { busy: false, error: "", more: false };

/** @param {"computer"|"friend"|"anyone"|"self"} against */
async function start(against) {
  if (state.busy) return;
  Object.assign(state, { busy: true, error: "" });
  update();
  try {
    /** @type {Record<string, unknown>} */
    const wish = { against, side: choice.side, level: preferences.level, control: choice.control, name: preferences.name };
    if (choice.board === "seed" && choice.seed) wish.seed = choice.seed;
    if (choice.board === "own") wish.layout = choice.layout.trim();
    const game = await ask("/api/games", wish);
    location.href = `/game/${game.id}`;
  } catch (error) {
    Object.assign(state, { busy: false, error: errorWords(/** @type {any} */ (error)) });
    update();
  }
}

const CONTROLS = ["-", "180+2", "300+3", "600+5", "900+10", "1/86400", "1/259200", "1/604800"];

/** @param {string} name @param {string} value @param {string} label @param {string} current @param {(value: string) => void} set */
const radio = (name, value, label, current, set) => html`<label class="pill"><input type="radio" name=${name} value=${value}
  .checked=${value === current} @change=${() => { set(value); update(); }}><span>${label}</span></label>`;

function update() {
  render(html`
    ${state.error ? html`<p class="error" role="alert">${state.error}</p>` : nothing}
    <p><button type="button" class="primary large" ?disabled=${state.busy} @click=${() => start("computer")}>${t("Play against the computer")}</button></p>
    <label class="level"><span>${t("Level {n}: {name}", { n: preferences.level, name: levelName(preferences.level) })}</span>
      <input type="range" min="1" max=${levelCount()} .value=${String(preferences.level)} aria-valuetext=${levelName(preferences.level)}
        @input=${(/** @type {Event} */ event) => { prefer({ level: Number(/** @type {HTMLInputElement} */ (event.target).value) }); update(); }}>
      <span class="small">${levelDescription(preferences.level)}</span></label>
    <div class="others">
      <button type="button" ?disabled=${state.busy} @click=${() => start("self")}>${t("Two at this screen")}</button>
      <button type="button" ?disabled=${state.busy} @click=${() => start("friend")}>${t("Invite a friend")}</button>
      <button type="button" ?disabled=${state.busy} @click=${() => start("anyone")}>${t("Wait for anyone")}</button>
    </div>
    <details ?open=${state.more} @toggle=${(/** @type {Event} */ event) => { state.more = /** @type {HTMLDetailsElement} */ (event.target).open; }}>
      <summary>${t("Side, clock and board")}</summary>
      <fieldset><legend>${t("You play")}</legend>
        ${radio("side", "random", t("random"), choice.side, (value) => { choice.side = value; })}
        ${radio("side", "black", t("Black, first"), choice.side, (value) => { choice.side = value; })}
        ${radio("side", "white", t("White, second"), choice.side, (value) => { choice.side = value; })}
      </fieldset>
      <label>${t("Clock")} <select @change=${(/** @type {Event} */ event) => { choice.control = /** @type {HTMLSelectElement} */ (event.target).value; }}>
        ${CONTROLS.map((control) => html`<option value=${control} ?selected=${control === choice.control}>${controlWords(control)}</option>`)}
      </select></label>
      <label>${t("Your name")} <input type="text" maxlength="40" autocomplete="nickname" .value=${preferences.name}
        @change=${(/** @type {Event} */ event) => prefer({ name: /** @type {HTMLInputElement} */ (event.target).value.trim() })}></label>
      <fieldset><legend>${t("Board")}</legend>
        ${radio("board", "shuffled", t("shuffled"), choice.board, (value) => { choice.board = value; })}
        ${radio("board", "seed", t("by number"), choice.board, (value) => { choice.board = value; })}
        ${radio("board", "own", t("my own"), choice.board, (value) => { choice.board = value; choice.layout ||= inRows(SAMPLE.match(/../g) ?? []); })}
        ${choice.board === "seed" ? html`<label>${t("Number of the board")} <input type="text" inputmode="numeric" pattern="[0-9]{1,20}" maxlength="20" .value=${choice.seed}
          @input=${(/** @type {Event} */ event) => { choice.seed = /** @type {HTMLInputElement} */ (event.target).value.replace(/\D/g, ""); }}></label>` : nothing}
        ${choice.board === "own" ? html`<label>${t("Tokens in reading order, rows joined by /")} <textarea rows="3" maxlength="200" spellcheck="false" .value=${choice.layout}
          @input=${(/** @type {Event} */ event) => { choice.layout = /** @type {HTMLTextAreaElement} */ (event.target).value; update(); }}></textarea></label>
          <p class="small">${t("Or arrange them by hand: choose two tokens, and they change places.")}</p>
          <kamon-board id="arrange"></kamon-board>` : nothing}
      </fieldset>
    </details>`, root);
  arrange();
}

const ROWS = [4, 5, 6, 7, 6, 5, 4];
const NAMES = ROWS.flatMap((length, row) => Array.from({ length }, (_, at) => "abcdefg"[Math.max(0, row - 3) + at] + (row + 1)));
/** The token that waits for another to change places with. @type {string | null} */
let held = null;

/** Show the own board as it is written, if it can be read, and let tokens change places. */
function arrange() {
  const editor = /** @type {import("./board.js").KamonBoard | null} */ (document.getElementById("arrange"));
  if (!editor) return;
  const tokens = choice.layout.replace(/[/\s]/g, "").match(/[A-F][1-6]|--/g) ?? [];
  editor.hidden = tokens.length !== 37;
  if (editor.hidden) return;
  editor.edition = preferences.edition;
  editor.playable = true;
  editor.label = t("Arrange the board");
  editor.board = { tokens, stones: ".".repeat(37), last: null, turn: "black", need: null, legal: NAMES, replies: held ? { [held]: [held] } : {}, outcome: null };
  editor.resting = held;
  editor.update();
  if (editor.dataset.ready) return;
  editor.dataset.ready = "yes";
  editor.addEventListener("kamon-play", (event) => {
    const { cell } = /** @type {CustomEvent<{cell: string}>} */ (event).detail;
    if (!held) held = cell;
    else {
      const now = choice.layout.replace(/[/\s]/g, "").match(/../g) ?? [];
      const [one, other] = [NAMES.indexOf(held), NAMES.indexOf(cell)];
      [now[one], now[other]] = [now[other], now[one]];
      choice.layout = inRows(now);
      held = null;
    }
    update();
  });
}

/** @param {string[]} tokens */
function inRows(tokens) {
  let start = 0;
  return ROWS.map((length) => tokens.slice(start, (start += length)).join("")).join("/");
}

async function showOpenGames() {
  const { games } = await ask("/api/games?which=open&limit=20").catch(() => ({ games: [] }));
  const others = /** @type {import("./types").Summary[]} */ (games).filter((game) => !game.you.length);
  openGames.hidden = !others.length;
  render(html`<h2 id="open-title">${t("Games that wait for an opponent")}</h2><ul class="list">${others.map((game) => {
    const seat = game.seats.black.kind === "person" ? "black" : "white";
    return html`<li><a href="/game/${game.id}">${game.seats[seat].name || t("Somebody")} · ${seat === "black" ? t("plays Black") : t("plays White")} · ${controlWords(game.control)}</a></li>`;
  })}</ul>`, openGames);
}

sample.board = {
  tokens: SAMPLE.match(/../g) ?? [], stones: "...oox..........x.oo......x.o.x.x.xx.".slice(0, 37).padEnd(37, "."), last: "c4",
  turn: null, need: "B2", legal: [], replies: {}, outcome: null,
};
const showSample = () => { sample.edition = preferences.edition; sample.update(); };
onPreferences(showSample);
showSample();
update();
showOpenGames();
setInterval(() => { if (!document.hidden) showOpenGames(); }, 15_000);
