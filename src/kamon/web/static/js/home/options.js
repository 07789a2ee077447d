// What is seldom chosen for a new game: the colour, the clock, the name and the board. Loaded when somebody opens it.
import { html, nothing } from "../../vendor/lit-html.js";
import { boardToArrange, CELL_NAMES, inRows, shuffled, swapped, tokensIn } from "../cells.js";
import { prefer, preferences } from "../shell.js";
import { controlWords, t, tn } from "../words.js";

/** @typedef {import("../types").FairBoardView} FairBoard */
/** Shows the page again. @typedef {() => void} Update */

const CONTROLS = ["-", "180+2", "300+3", "600+5", "900+10", "1/86400", "1/259200", "1/604800"];
const NO_DIGIT = /\D/gu;

/** @type {Record<"side" | "control" | "board" | "seed" | "layout", string>} */
const choice = { side: "random", control: "-", board: "shuffled", seed: "", layout: "" };
/** The token that waits for another to change places with. @type {string | null} */
let held = null;
/** The fair board that can be chosen, if there is one. @type {FairBoard | undefined} */
let fair;
/** The board to begin with when arranging one's own. @type {string[]} */
let tokens = [];

/** @param {{fair: FairBoard[], sample: {tokens: string[]}}} told What the page has come with. */
export function begin(told) {
  fair = shuffled(told.fair).at(0);
  ({ tokens } = told.sample);
}

/** What is asked of the server for a new game. */
export function wishes() {
  const { side, control, board, seed, layout } = choice;
  return {
    side,
    control,
    ...(board === "seed" && seed ? { seed } : {}),
    ...(board === "fair" && fair ? { seed: fair.seed } : {}),
    ...(board === "own" ? { layout: layout.trim() } : {}),
  };
}

/** @param {Event} event */
const inputValue = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** @param {keyof typeof choice} name @param {Update} update */
const choose = (name, update) => (/** @type {Event} */ event) => {
  choice[name] = inputValue(event);
  if (name === "board" && choice.board === "own") choice.layout ||= inRows(tokens);
  update();
};

/** @param {Update} update */
export function panel(update) {
  /** @param {"side" | "board"} name @param {string} value @param {string} label */
  const radio = (name, value, label) => html`<label class="pill"><input type="radio" name=${name} value=${value}
    .checked=${value === choice[name]} @change=${choose(name, update)}><span>${label}</span></label>`;
  return html`<fieldset><legend>${t("Your colour")}</legend>
      ${radio("side", "random", t("Random"))}
      ${radio("side", "black", t("Black (goes first)"))}
      ${radio("side", "white", t("White (goes second)"))}
    </fieldset>
    <label>${t("Clock")} <select @change=${choose("control", update)}>${CONTROLS.map(option)}</select></label>
    <label>${t("Your name")} <input type="text" maxlength="40" autocomplete="nickname" .value=${preferences.name}
      @change=${(/** @type {Event} */ event) => prefer({ name: inputValue(event).trim() })}></label>
    <fieldset><legend>${t("Board")}</legend>
      ${radio("board", "shuffled", t("shuffled"))}
      ${fair ? radio("board", "fair", t("a fair board")) : nothing}
      ${radio("board", "seed", t("by number"))}
      ${radio("board", "own", t("my own"))}
      ${fair && choice.board === "fair" ? html`<p class="small">${fairWords(fair)}</p>` : nothing}
      ${choice.board === "seed" ? seedField() : nothing}
      ${choice.board === "own" ? layoutField(update) : nothing}
    </fieldset>`;
}

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
    "Black can win, but only {n} of the {count} possible first moves wins. (The computer has checked.)",
    "Black can win, but only {n} of the {count} possible first moves win. (The computer has checked.)",
    winning,
    { count: first_moves },
  );
}

/** @param {Update} update */
const layoutField = (update) => html`<label>${t("Tokens row by row from the top, rows separated by /")}
    <textarea rows="3" maxlength="200" spellcheck="false" .value=${choice.layout}
      @input=${choose("layout", update)}></textarea></label>
  <p class="small">${t("Or arrange them by hand: choose two tokens to swap them.")}</p>
  <kamon-board id="arrange"></kamon-board>`;

/** Show the layout as it is written, if it can be read, and let tokens change places. @param {Update} update */
export function showArrangement(update) {
  const editor = /** @type {import("../board.js").KamonBoard | null} */ (document.getElementById("arrange"));
  if (!editor) return;
  const shown = tokensIn(choice.layout);
  editor.hidden = shown.length !== CELL_NAMES.length;
  if (editor.hidden) return;
  if (!editor.dataset.ready) {
    editor.dataset.ready = "yes";
    editor.addEventListener("kamon-play", (event) => {
      onChosen(/** @type {CustomEvent} */ (event).detail.cell);
      update();
    });
  }
  Object.assign(editor, {
    edition: preferences.edition,
    playable: true,
    label: t("Arrange the board"),
    board: boardToArrange({ tokens: shown }, held),
    resting: held,
  });
  editor.update();
}

/** @param {string} cell */
function onChosen(cell) {
  if (held) choice.layout = inRows(swapped(tokensIn(choice.layout), held, cell));
  held = held ? null : cell;
}
