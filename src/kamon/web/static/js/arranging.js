// A position arranged by hand: stones are put and taken, tokens change places.
import { html, render } from "../vendor/lit-html.js";
import { CELL_NAMES } from "./board.js";
import { preferences } from "./shell.js";
import { t } from "./words.js";

const ROWS = [4, 5, 6, 7, 6, 5, 4];
/** @type {Record<string, string>} */
const NEXT_STONE = { ".": "x", x: "o", o: "." };

/** @param {string[]} parts */
export function inRows(parts) {
  let start = 0;
  return ROWS.map((length) => parts.slice(start, (start += length)).join("")).join("/");
}

/** @template T @param {T[]} things */
export function shuffled(things) {
  const mixed = [...things];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = crypto.getRandomValues(new Uint32Array(1))[0] % (at + 1);
    [mixed[at], mixed[other]] = [mixed[other], mixed[at]];
  }
  return mixed;
}

export class Arrangement {
  /** @param {import("./types").Board} board @param {HTMLElement} root @param {(line: string) => void} onReady @param {() => void} onCancel */
  constructor(board, root, onReady, onCancel) {
    this.root = root;
    this.onReady = onReady;
    this.onCancel = onCancel;
    this.tokens = [...board.tokens];
    this.stones = [...board.stones];
    this.last = board.last ?? "";
    this.tool = "stones";
    /** The token that waits for another. @type {string | null} */
    this.held = null;
    this.message = "";
  }

  /** As the three fields of a position, or as a layout where nothing has been played. */
  get line() {
    const layout = inRows(this.tokens);
    return this.stones.every((sign) => sign === ".") ? layout : `${layout} ${inRows(this.stones)} ${this.last || "-"}`;
  }

  /** @param {string} cell */
  #choose(cell) {
    const at = CELL_NAMES.indexOf(cell);
    if (this.tool === "stones") {
      if (this.tokens[at] === "--") return;
      this.stones[at] = NEXT_STONE[this.stones[at]];
      if (this.stones[at] !== ".") this.last = cell;
      else if (this.last === cell) this.last = "";
    } else if (!this.held) this.held = cell;
    else {
      const other = CELL_NAMES.indexOf(this.held);
      [this.tokens[at], this.tokens[other]] = [this.tokens[other], this.tokens[at]];
      this.held = null;
    }
    this.update();
  }

  update() {
    const taken = CELL_NAMES.filter((_, at) => this.stones[at] !== ".");
    const choose = (/** @type {string} */ tool, /** @type {string} */ label) => html`<label class="check"><input type="radio" name="tool" .checked=${this.tool === tool} @change=${() => { this.tool = tool; this.held = null; this.update(); }}> ${label}</label>`;
    render(html`<section class="table" aria-label=${t("Board")}><kamon-board></kamon-board></section>
      <aside class="panel"><h2>${t("Arrange a position")}</h2>
        <fieldset><legend>${t("A click on a cell")}</legend>${choose("stones", t("puts a black stone, a white one, or none"))}${choose("tokens", t("lets two tokens change places"))}</fieldset>
        <div class="row"><button type="button" @click=${() => { this.tokens = shuffled(this.tokens); this.stones = this.stones.map(() => "."); this.last = ""; this.update(); }}>${t("Shuffle the tokens")}</button>
          <button type="button" @click=${() => { this.stones = this.stones.map(() => "."); this.last = ""; this.update(); }}>${t("Take all stones off")}</button></div>
        <label>${t("Played last")} <select @change=${(/** @type {Event} */ event) => { this.last = /** @type {HTMLSelectElement} */ (event.target).value; this.update(); }}>
          <option value="" ?selected=${!this.last}>–</option>${taken.map((cell) => html`<option value=${cell} ?selected=${cell === this.last}>${cell}</option>`)}</select></label>
        ${this.message ? html`<p class="error" role="alert">${this.message}</p>` : ""}
        <div class="row"><button type="button" class="primary" @click=${() => this.onReady(this.line)}>${t("Study this position")}</button>
          <button type="button" class="quiet" @click=${() => this.onCancel()}>${t("Cancel")}</button></div></aside>`, this.root);
    const board = /** @type {import("./board.js").KamonBoard} */ (this.root.querySelector("kamon-board"));
    if (!board.dataset.arranging) {
      board.dataset.arranging = "yes";
      board.addEventListener("kamon-play", (event) => this.#choose(/** @type {CustomEvent<{cell: string}>} */ (event).detail.cell));
    }
    board.edition = preferences.edition;
    board.playable = true;
    board.values = {};
    board.label = t("Arrange the board");
    board.board = { tokens: this.tokens, stones: this.stones.join(""), last: this.last || null, turn: "black", need: null, legal: CELL_NAMES, replies: this.held ? { [this.held]: [this.held] } : {}, outcome: null };
    board.resting = this.held;
    board.update();
  }
}
