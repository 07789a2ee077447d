// The board, a self-contained element: <kamon-board>. It draws what it is told and knows no rules.
//
// Set `.board` (a board as the server tells it) and listen for "kamon-play" (detail.cell). Other
// properties: `edition`, `playable` (may the visitor play now?), `assistance`, `values`, `coordinates`.
import { html, nothing, render, svg } from "../vendor/lit-html.js";
import data from "../artwork.js";
import { t, tokenWords } from "./words.js";

/** @typedef {import("./types").Board} Board */
/** @typedef {import("./types").EditionName} EditionName */

const { artwork, editions, drawing } = /** @type {import("./types").Artwork} */ (data);
const NAMES = Object.keys(drawing.centres);
/** The cells in reading order, as `tokens` and `stones` have them. */
export const CELL_NAMES = NAMES;
const ROWS = [4, 5, 6, 7, 6, 5, 4];
/** @type {("green"|"blue"|"yellow")[]} */
const PAIRS = ["green", "blue", "yellow"];

/** @param {number} corners @param {number} radius */
const polygon = (corners, radius) =>
  Array.from({ length: corners }, (_, at) => {
    const angle = (2 * Math.PI * at) / corners;
    return `${(radius * Math.sin(angle)).toFixed(1)},${(-radius * Math.cos(angle)).toFixed(1)}`;
  }).join(" ");
const HEX = { cell: polygon(6, 47), stone: polygon(6, 46), shine: polygon(6, 39), mark: polygon(6, 42), legal: polygon(6, 44) };

/** The neighbours of a cell by the key that leads there. @param {string} name @param {KeyboardEvent} event */
export function neighbour(name, event) {
  const letter = name.charCodeAt(0), row = Number(name[1]);
  /** @type {Record<string, [number, number]>} */
  const steps = {
    ArrowLeft: [-1, 0], ArrowRight: [1, 0],
    ArrowUp: event.shiftKey ? [0, -1] : [-1, -1],
    ArrowDown: event.shiftKey ? [0, 1] : [1, 1],
  };
  /** @type {Record<string, [number, number]>} */
  const pad = { Numpad4: [-1, 0], Numpad6: [1, 0], Numpad7: [-1, -1], Numpad9: [0, -1], Numpad1: [0, 1], Numpad3: [1, 1] };
  const step = steps[event.key] || pad[event.code];
  if (!step) return null;
  const other = String.fromCharCode(letter + step[0]) + (row + step[1]);
  return NAMES.includes(other) ? other : name;
}

/** Draw one token around 0,0. @param {string} token @param {EditionName} name */
export function drawToken(token, name) {
  const edition = editions[name];
  if (token === "--") return edition.lifts ? nothing : svg`<g class="blank"><circle r="29"/><circle r="22"/></g>`;
  const [symbol, suit] = [token[0], token[1]];
  const path = artwork[edition.symbols[symbol]];
  if (!edition.lifts)
    return svg`<g class="suit-${suit}"><path class="ground" d=${drawing.enclosures[suit]}/>
      <path class="symbol" fill-rule="evenodd" d=${path} transform="scale(${drawing.scales[suit]})"/></g>`;
  const [scale, places] = drawing.pips[suit];
  return svg`<g class="sign-${symbol}"><circle class="tile" r="33"/>${places.map(
    ([x, y]) => svg`<path class="symbol" fill-rule="evenodd" d=${path} transform="translate(${x} ${y}) scale(${scale})"/>`,
  )}</g>`;
}

/** One token as a small picture of its own. @param {string} token @param {EditionName} name */
export const tokenPicture = (token, name) =>
  html`<svg class="token" viewBox="-43 -43 86 86" role="img" aria-label=${tokenWords(token, name)}>${drawToken(token, name)}</svg>`;

/** @param {number} index @param {EditionName} name @param {boolean} joined */
function drawEdge(index, name, joined) {
  const pair = PAIRS[index % 3];
  const [inner, outer] = drawing.frame;
  const at = (/** @type {number} */ radius, /** @type {number} */ corner) =>
    `${(radius * Math.cos((Math.PI * corner) / 3)).toFixed(1)},${(radius * Math.sin((Math.PI * corner) / 3)).toFixed(1)}`;
  const start = index - 2, end = index - 1, middle = (start + end) / 2;
  const points = [at(inner, start), at(outer, start), at(outer, end), at(inner, end)].join(" ");
  const [x, y] = at(((inner + outer) / 2) * Math.cos(Math.PI / 6), middle).split(",");
  const count = (index % 3) + 1;
  const mark = editions[name].lifts
    ? svg`<circle class="medal" r="19"/><path class="animal" fill-rule="evenodd" d=${artwork[editions[name].edges[pair]]} transform="scale(.27)"/>`
    : svg`<g transform="rotate(${middle * 60 + 90})">${Array.from({ length: count }, (_, i) =>
        svg`<path class="lozenge" d="M${(i - (count - 1) / 2) * 22},-6l8,6-8,6-8-6Z"/>`)}</g>`;
  return svg`<g class="edge ${pair} ${joined ? "joined" : ""}"><polygon points=${points}/><g transform="translate(${x} ${y})">${mark}</g></g>`;
}

/** @param {string[]} chain @param {boolean} closed */
function drawChain(chain, closed) {
  const d = "M" + chain.map((cell) => drawing.centres[cell].join(",")).join("L") + (closed ? "Z" : "");
  return svg`<path class="chain under" d=${d}/><path class="chain" d=${d}/>`;
}

/** What is known of a move, for the eye: above the cells, because those are told by their own words. @param {string} cell @param {import("./types").MoveMark} mark */
function drawMark(cell, mark) {
  const [x, y] = drawing.centres[cell];
  return svg`<g class="value ${mark.kind} ${mark.best ? "best" : ""}" transform="translate(${x} ${y + 31})"><rect x="-21" y="-12" width="42" height="24" rx="12"/><text y="6">${mark.text}</text></g>`;
}

/** So many milliseconds make a tap a look. */
const LOOK = 450;

export class KamonBoard extends HTMLElement {
  constructor() {
    super();
    /** @type {Board | null} */ this.board = null;
    /** @type {EditionName} */ this.edition = "2020";
    /** @type {boolean} */ this.playable = false;
    /** @type {import("./types").Assistance | null} */ this.assistance = null;
    /** What is known of moves: a short text for the eye, words for the ear. @type {Record<string, import("./types").MoveMark>} */ this.values = {};
    this.coordinates = false;
    this.label = "";
    /** The cell that the keyboard is on. */ this.cursor = "d4";
    /** @type {string | null} */ this.resting = null;
    this.typed = "";
    /** @type {string | null} */ this.landed = null;
    /** When a finger came down, in milliseconds; 0 for whatever is no finger. */ this.touched = 0;
  }

  connectedCallback() {
    this.onkeydown = (/** @type {KeyboardEvent} */ event) => this.#key(event);
    this.onpointerleave = () => this.#rest(null);
    this.onpointerdown = (/** @type {PointerEvent} */ event) => { this.touched = event.pointerType === "touch" ? Date.now() : 0; };
    this.update();
  }

  /** A tap plays. A finger that rests on a cell looks at what the move would allow, and plays nothing. @param {string} cell */
  #press(cell) {
    this.cursor = cell;
    const looked = this.touched && Date.now() - this.touched > LOOK;
    this.touched = 0;
    if (!looked) this.#play(cell);
  }

  /** Show what the properties say now. */
  update() {
    if (!this.board || !this.isConnected) return;
    render(this.#draw(this.board), this);
  }

  /** @param {string | null} cell */
  #rest(cell) {
    if (this.resting === cell) return;
    this.resting = cell;
    this.update();
    this.dispatchEvent(new CustomEvent("kamon-rest", { detail: { cell } }));
  }

  /** @param {string} cell */
  #play(cell) {
    if (this.playable && this.board?.legal.includes(cell))
      this.dispatchEvent(new CustomEvent("kamon-play", { detail: { cell }, bubbles: true }));
    else this.dispatchEvent(new CustomEvent("kamon-refuse", { detail: { cell }, bubbles: true }));
  }

  /** @param {string} cell */
  focusCell(cell) {
    this.cursor = cell;
    this.update();
    const element = this.querySelector(`[data-cell="${cell}"]`);
    if (element instanceof SVGElement) element.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = neighbour(this.cursor, event);
    if (next) {
      event.preventDefault();
      this.focusCell(next);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#play(this.cursor);
    } else if (event.key === "Escape") {
      this.#rest(null);
    } else if (/^[a-gA-G]$/.test(event.key)) {
      this.typed = event.key.toLowerCase();
    } else if (/^[1-7]$/.test(event.key) && this.typed && NAMES.includes(this.typed + event.key)) {
      this.focusCell(this.typed + event.key);
      this.typed = "";
    }
  }

  /** @param {Board} board */
  #draw(board) {
    const joined = new Set((board.outcome?.links ?? []).map((link) => link.colour));
    const [x, y, width, height] = drawing.view;
    let start = 0;
    const rows = ROWS.map((length, row) => {
      const cells = NAMES.slice(start, start + length);
      start += length;
      return svg`<g role="row" aria-rowindex=${row + 1}>${cells.map((name) => this.#cell(board, name))}</g>`;
    });
    const lifts = editions[this.edition].lifts;
    return html`<svg class="board edition-${this.edition} ${this.playable ? "playable" : ""} ${board.outcome ? "ended" : ""}"
        viewBox="${x} ${y} ${width} ${height}" role="grid" aria-label=${this.label || t("Board")} aria-rowcount="7">
      <g aria-hidden="true">${Array.from({ length: 6 }, (_, i) => drawEdge(i, this.edition, joined.has(PAIRS[i % 3])))}</g>
      ${rows}
      <g aria-hidden="true">
        ${(board.outcome?.links ?? []).map((link) => drawChain(link.chain, false))}
        ${board.outcome?.ring.length ? drawChain(board.outcome.ring, true) : nothing}
        ${lifts && board.need ? this.#pile(board) : nothing}
        ${Object.entries(this.values).map(([cell, mark]) => drawMark(cell, mark))}
      </g></svg>`;
  }

  /** @param {Board} board */
  #pile(board) {
    const below = Math.min(4, [...board.stones].filter((sign) => sign !== ".").length - 1);
    const [x, y] = drawing.pile;
    return svg`<g class="pile" transform="translate(${x} ${y})"><circle class="shade" cy="18" r="42"/>
      ${Array.from({ length: below }, (_, i) => svg`<circle class="tile" cy=${4 * (below - i)} r="33"/>`)}
      ${drawToken(board.need ?? "--", this.edition)}</g>`;
  }

  /** @param {Board} board @param {string} name */
  #cell(board, name) {
    const index = NAMES.indexOf(name);
    const stone = board.stones[index], token = board.tokens[index];
    const legal = this.playable && board.legal.includes(name);
    const lifts = editions[this.edition].lifts;
    const reply = this.playable && this.resting && board.replies[this.resting]?.includes(name);
    const classes = [
      "cell",
      legal ? "legal" : "",
      this.playable && !legal && stone === "." ? "dim" : "",
      name === board.last ? "last" : "",
      name === this.landed ? "landed" : "",
      board.outcome?.enclosed.includes(name) ? "enclosed" : "",
      reply ? "reply" : "",
      name === this.resting && legal ? "resting" : "",
      this.assistance?.threats.includes(name) && stone === "." ? "threat" : "",
      legal && this.assistance?.losing.includes(name) ? "losing" : "",
      legal && this.assistance?.winning.includes(name) ? "winning" : "",
    ].join(" ");
    const [x, y] = drawing.centres[name];
    const side = stone === "x" ? "black" : "white";
    const content =
      stone === "."
        ? svg`${lifts && token !== "--" ? svg`<path class="pad" d=${drawing.pad}/>` : nothing}${drawToken(token, this.edition)}`
        : lifts
          ? svg`<g class="pawn ${side}"><path d=${drawing.pawn}/><ellipse cy="-5" rx="14" ry="5"/><circle cy="-20" r="13"/></g>`
          : svg`<g class="stone ${side}"><polygon points=${HEX.stone}/><polygon class="shine" points=${HEX.shine}/>
              <g transform="scale(.74)">${drawToken(token, this.edition)}</g></g>`;
    return svg`<g class=${classes} data-cell=${name} role="gridcell" tabindex=${this.ariaHidden === "true" ? nothing : name === this.cursor ? 0 : -1}
        transform="translate(${x} ${y})" aria-label=${this.#say(board, name, stone, token, legal)}
        @click=${() => this.#press(name)} @contextmenu=${(/** @type {Event} */ event) => { if (this.touched) event.preventDefault(); }}
        @pointerenter=${() => this.#rest(name)} @focus=${() => { this.cursor = name; this.#rest(name); }}>
      <polygon class="ground" points=${HEX.cell}/>
      <g class="content">${content}</g>
      ${legal ? svg`<polygon class="mark-legal" points=${HEX.legal}/>` : nothing}
      ${reply ? svg`<circle class="mark-reply" r="40"/>` : nothing}
      ${name === board.last ? (lifts ? svg`<circle class="mark-pawn" r="43"/>` : svg`<polygon class="mark-last under" points=${HEX.mark}/><polygon class="mark-last" points=${HEX.mark}/>`) : nothing}
      ${this.assistance?.threats.includes(name) && stone === "." ? svg`<path class="mark-threat" d="M-9,-44L0,-30L9,-44Z"/>` : nothing}
      ${legal && this.assistance?.losing.includes(name) ? svg`<path class="mark-losing" d="M-12,-12L12,12M12,-12L-12,12"/>` : nothing}
      ${this.coordinates ? svg`<text class="coordinate" y="-27">${name}</text>` : nothing}
      <polygon class="focus" points=${HEX.cell}/></g>`;
  }

  /** @param {Board} board @param {string} name @param {string} stone @param {string} token @param {boolean} legal */
  #say(board, name, stone, token, legal) {
    const parts = [name];
    if (stone === "x") parts.push(t("black stone"));
    if (stone === "o") parts.push(t("white stone"));
    parts.push(token === "--" ? t("neutral, nobody may play here") : tokenWords(token, this.edition));
    if (name === board.last) parts.push(t("last move"));
    if (this.values[name]) parts.push(this.values[name].words);
    if (legal) parts.push(t("you may play here"));
    const replies = legal ? board.replies[name] : null;
    if (replies) parts.push(replies.length ? t("then your opponent may play: {cells}", { cells: replies.join(" ") }) : t("then your opponent has nothing to play"));
    if (legal && this.assistance?.winning.includes(name)) parts.push(t("wins at once"));
    if (legal && this.assistance?.losing.includes(name)) parts.push(t("loses at once"));
    if (this.assistance?.threats.includes(name) && stone === ".") parts.push(t("threatened by your opponent"));
    if (board.outcome?.ring.includes(name) || board.outcome?.links.some((link) => link.chain.includes(name)))
      parts.push(t("part of the win"));
    if (board.outcome?.enclosed.includes(name)) parts.push(t("enclosed"));
    return parts.join(", ");
  }
}

customElements.define("kamon-board", KamonBoard);
