// A position arranged by hand: stones are put and taken, tokens change places.
import { html, nothing, render } from "../../vendor/lit-html.js";
import { boardToArrange, CELL_NAMES, inRows, isNeutral, shuffled, swapped } from "../cells.js";
import { boardIn, button, errorLine, inputValue, showBoard } from "../parts.js";
import { t } from "../words.js";

/** @type {Record<string, string>} */
const NEXT_STONE = { ".": "x", x: "o", o: "." };

/** The position as it is arranged. */
export class Arrangement {
  /** What a click does. @type {"stones" | "tokens"} */
  tool = "stones";
  /** The cell of a token that waits for another. @type {string | null} */
  held = null;

  /** @param {{tokens: string[], stones: string, last: string | null}} board */
  constructor({ tokens, stones, last }) {
    this.tokens = [...tokens];
    this.stones = [...stones];
    this.last = last ?? "";
  }

  /** The three fields of a position, or a layout alone where there is no stone. */
  get line() {
    const layout = inRows(this.tokens);
    return this.taken.length ? `${layout} ${inRows(this.stones)} ${this.last || "-"}` : layout;
  }

  /** The cells with stones. */
  get taken() {
    return CELL_NAMES.filter((_, at) => this.stones[at] !== ".");
  }

  /** @param {"stones" | "tokens"} tool */
  use(tool) {
    this.tool = tool;
    this.held = null;
  }

  /** @param {string} cell */
  choose(cell) {
    if (this.tool === "stones") this.#changeStone(cell);
    else if (this.held) {
      this.tokens = swapped(this.tokens, this.held, cell);
      this.held = null;
    } else this.held = cell;
  }

  takeStonesOff() {
    this.stones = this.stones.map(() => ".");
    this.last = "";
  }

  shuffle() {
    this.tokens = shuffled(this.tokens);
    this.takeStonesOff();
  }

  /** @param {string} cell */
  #changeStone(cell) {
    const at = CELL_NAMES.indexOf(cell);
    if (isNeutral(this.tokens[at])) return;
    this.stones[at] = NEXT_STONE[this.stones[at]];
    if (this.stones[at] !== ".") this.last = cell;
    else if (this.last === cell) this.last = "";
  }
}

/** The page while a position is arranged. */
export class ArrangingView {
  message = "";

  /**
   * @param {import("../types").BoardView} board @param {HTMLElement} root
   * @param {(line: string) => void} onReady @param {() => void} onCancel
   */
  constructor(board, root, onReady, onCancel) {
    this.arrangement = new Arrangement(board);
    this.root = root;
    this.onReady = onReady;
    this.onCancel = onCancel;
  }

  update() {
    render(
      html`<section class="table" aria-label=${t("Board")}><kamon-board></kamon-board></section>
      ${this.#panel()}`,
      this.root,
    );
    const { tokens, stones, last, held } = this.arrangement;
    showBoard(
      boardIn(this.root),
      {
        board: boardToArrange({ tokens, stones: stones.join(""), last: last || null }, held),
        playable: true,
        values: {},
        label: t("Arrange the board"),
        resting: held,
      },
      { "kamon-play": this.#change((cell) => this.arrangement.choose(cell)) },
    );
  }

  #panel() {
    const { arrangement } = this;
    const { last, taken, line } = arrangement;
    return html`<aside class="panel"><h2>${t("Arrange a position")}</h2>
      <fieldset><legend>${t("Clicking a space")}</legend>
        ${this.#toolChoice("stones", t("puts a black stone, then a white one, then none"))}
        ${this.#toolChoice("tokens", t("swaps two tokens"))}</fieldset>
      <div class="row">${button(
        t("Shuffle the tokens"),
        this.#change(() => arrangement.shuffle()),
        "",
      )}
        ${button(
          t("Remove all stones"),
          this.#change(() => arrangement.takeStonesOff()),
          "",
        )}</div>
      <label>${t("Last move")} <select @change=${this.#change((/** @type {Event} */ event) => {
        arrangement.last = inputValue(event);
      })}>
        <option value="" ?selected=${!last}>–</option>
        ${taken.map((cell) => html`<option value=${cell} ?selected=${cell === last}>${cell}</option>`)}</select></label>
      ${this.message ? errorLine(this.message) : nothing}
      <div class="row">${button(t("Study this position"), () => this.onReady(line), "primary")}
        ${button(t("Cancel"), this.onCancel)}</div></aside>`;
  }

  /** @param {"stones" | "tokens"} tool @param {string} label */
  #toolChoice(tool, label) {
    return html`<label class="check"><input type="radio" name="tool" .checked=${this.arrangement.tool === tool}
      @change=${this.#change(() => this.arrangement.use(tool))}> ${label}</label>`;
  }

  /** Do something, and show what has come of it. @template {unknown[]} T @param {(...values: T) => void} action */
  #change(action) {
    return (/** @type {T} */ ...values) => {
      action(...values);
      this.update();
    };
  }
}
