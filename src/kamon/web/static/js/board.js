// The board, a self-contained element: <kamon-board>. It draws what it is told and knows no rules.
//
// Set `.board` (a board as the server sends it) and the other properties of `Shown`, call `update()`, and listen
// for "kamon-play" and "kamon-refuse" (detail.cell): a cell was chosen that may or may not be played.
import data from "../artwork.js";
import { html, nothing, render, svg } from "../vendor/lit-html.js";
import { bodyPath, CELL_NAMES, dotPath, hexagonsPath, isNeutral, linkPath, neighbour, rowsOf } from "./cells.js";
import { t, tokenWords } from "./words.js";

/** @typedef {"green" | "blue" | "yellow"} Colour Of a pair of edges. */
/** @typedef {import("./types").BoardView} Board */
/** @typedef {import("./page").EditionName} EditionName */
/** @typedef {import("./page").MoveMark} MoveMark */
/**
 * What a page sets.
 * @typedef {object} Shown
 * @property {Board | null} board
 * @property {EditionName} edition
 * @property {boolean} playable May the visitor play now?
 * @property {import("./types").AssistanceView | null} assistance
 * @property {Record<string, MoveMark>} values What is known of moves: a short text for the eye, words for the ear.
 * @property {boolean} coordinates
 * @property {boolean} small Is the board too small for tokens? Then it shows stones.
 * @property {string} label
 * @property {string | null} resting The cell that the pointer or the keyboard is on.
 * @property {string | null} landed The cell of a stone that has just been put down.
 * @property {string | null} ghost The cell of a move that is on its way to the server.
 * @property {string | null} chosen The cell of a move that waits to be confirmed.
 * @property {string[]} glow The cells of a chain that has just grown.
 * @property {string[]} warned The cells of threats that are new.
 */

const { artwork, editions, drawing } = /** @type {import("./page").Artwork} */ (data);
/** @type {Colour[]} */
const PAIRS = ["green", "blue", "yellow"];
/** After so many milliseconds a tap does not play any more. */
const LONG_TAP = 450;
const LETTER = /^[a-g]$/iu;

// --- Drawings ------------------------------------------------------------------------------------

/** @param {number} radius @param {number} turns Clockwise from the top. */
const pointAt = (radius, turns) => {
  const angle = 2 * Math.PI * turns;
  return `${(radius * Math.sin(angle)).toFixed(1)},${(-radius * Math.cos(angle)).toFixed(1)}`;
};

/** @param {number} radius */
const hexagon = (radius) => Array.from({ length: 6 }, (_, corner) => pointAt(radius, corner / 6)).join(" ");
const { sizes } = drawing;
const HEX = {
  cell: hexagon(sizes.cell),
  stone: hexagon(sizes.stone),
  shine: hexagon(sizes.shine),
  mark: hexagon(sizes.last),
  legal: hexagon(sizes.legal),
};
const ALL_CELLS = CELL_NAMES.map((_, at) => at);
const GROUNDS = hexagonsPath(ALL_CELLS, sizes.cell);
/** What is seen between the cells. */
const TRAY = Array.from({ length: 6 }, (_, at) => pointAt(drawing.frame[0] + 2, (at + 0.5) / 6)).join(" ");

/** Draw a token around 0,0. @param {string} token @param {EditionName} name */
export function drawToken(token, name) {
  const edition = editions[name];
  if (isNeutral(token)) return edition.lifts ? nothing : svg`<g class="blank"><circle r="29"/><circle r="22"/></g>`;
  const [symbol, suit] = token;
  const path = artwork[edition.symbols[symbol]];
  if (!edition.lifts)
    return svg`<g class="suit-${suit}"><path class="ground" d=${drawing.enclosures[suit]}/>
      <path class="symbol" fill-rule="evenodd" d=${path} transform="scale(${drawing.scales[suit]})"/></g>`;
  const [scale, places] = drawing.pips[suit];
  return svg`<g class="sign-${symbol}"><circle class="tile" r="33"/>${places.map(
    ([x, y]) => svg`<path class="symbol" fill-rule="evenodd" d=${path}
      transform="translate(${x} ${y}) scale(${scale})"/>`,
  )}</g>`;
}

/** A token as a small picture of its own. @param {string} token @param {EditionName} name */
export const tokenPicture = (token, name) => html`<svg class="token" viewBox="-43 -43 86 86" role="img"
  aria-label=${tokenWords(token, name)}>${drawToken(token, name)}</svg>`;

/** @param {number} index @param {EditionName} name */
function drawEdgeMark(index, name) {
  const edition = editions[name];
  if (edition.lifts) {
    const animal = artwork[edition.edges[PAIRS[index % 3]]];
    return svg`<circle class="medal" r="23"/>
      <path class="animal" fill-rule="evenodd" d=${animal} transform="scale(.36)"/>`;
  }
  const count = (index % 3) + 1;
  const lozenges = Array.from(
    { length: count },
    (_, at) => svg`<path class="lozenge" d="M${(at - (count - 1) / 2) * 20},-5.2l7,5.2-7,5.2-7-5.2Z"/>`,
  );
  return svg`<g transform="rotate(${60 * index})">${lozenges}</g>`;
}

/** @param {number} index @param {EditionName} name @param {boolean} joined */
function drawEdge(index, name, joined) {
  const [inner, outer] = drawing.frame;
  const [start, middle, end] = [(index - 0.5) / 6, index / 6, (index + 0.5) / 6];
  const points = [pointAt(inner, start), pointAt(outer, start), pointAt(outer, end), pointAt(inner, end)];
  // Lozenges are on the band; a medal lies in the notch between the two middle cells.
  const out = editions[name].lifts ? inner * Math.cos(Math.PI / 6) - 5 : ((inner + outer) / 2) * Math.cos(Math.PI / 6);
  const place = pointAt(out, middle);
  return svg`<g class="edge ${PAIRS[index % 3]} ${joined ? "joined" : ""}"><polygon points=${points.join(" ")}/>
    <g transform="translate(${place})">${drawEdgeMark(index, name)}</g></g>`;
}

/** How far out a place is towards an edge. @param {[number, number]} place @param {number} edge */
const heightTowards = ([x, y], edge) => x * Math.sin((edge * Math.PI) / 3) - y * Math.cos((edge * Math.PI) / 3);

/**
 * Where a chain meets the frame beyond one end: at the edge of its colour that this end is near to, and the other end
 * is far from. A corner belongs to edges of two colours.
 * @param {[number, number]} end @param {[number, number]} other @param {Colour} colour @returns {[number, number]}
 */
function intoFrame(end, other, colour) {
  const edge = PAIRS.indexOf(colour);
  const nearest = heightTowards(end, edge) > heightTowards(other, edge) ? edge : edge + 3;
  const angle = (nearest * Math.PI) / 3;
  const out = drawing.frame[0] * Math.cos(Math.PI / 6) + 5 - heightTowards(end, nearest);
  return [end[0] + out * Math.sin(angle), end[1] - out * Math.cos(angle)];
}

/**
 * A chain that wins, which appears cell by cell. Styles are set as properties: the page forbids attributes for them.
 * @param {string[]} chain @param {Colour | null} colour Of the edges that it connects; a ring has none.
 */
function drawChain(chain, colour) {
  const places = chain.map((cell) => drawing.centres[cell]);
  const [first, last] = [places[0], places.at(-1) ?? places[0]];
  // From edge to edge: the line runs into the frame that it joins.
  const points = colour ? [intoFrame(first, last, colour), ...places, intoFrame(last, first, colour)] : places;
  const d = `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}${colour ? "" : "Z"}`;
  return svg`<g .style=${`--steps: ${chain.length}`}><path class="chain under" pathLength="1" d=${d}/>
    <path class="chain" pathLength="1" d=${d}/>
    ${chain.map(
      (cell, at) => svg`<circle class="chain-stone" .style=${`--at: ${at}`} r="9" cx=${drawing.centres[cell][0]}
        cy=${drawing.centres[cell][1]}/>`,
    )}</g>`;
}

/** What is known of a move; the label of the cell has it in words. @param {[string, MoveMark]} entry */
function drawValue([cell, mark]) {
  const [x, y] = drawing.centres[cell];
  return svg`<g class="value ${mark.kind} ${mark.best ? "best" : ""}" transform="translate(${x} ${y + 31})">
    <rect x="-21" y="-12" width="42" height="24" rx="12"/><text y="6">${mark.text}</text></g>`;
}

/** The pile beside the board of 2007, the token to match on top. @param {Board} board @param {EditionName} name */
function drawPile(board, name) {
  const below = Math.min(4, [...board.stones].filter((sign) => sign !== ".").length - 1);
  const [x, y] = drawing.pile;
  return svg`<g class="pile" transform="translate(${x} ${y})"><circle class="shade" cy="18" r="42"/>
    ${Array.from({ length: below }, (_, at) => svg`<circle class="tile" cy=${4 * (below - at)} r="33"/>`)}
    ${drawToken(board.need ?? "--", name)}</g>`;
}

/** @param {"black" | "white"} side @param {string} token @param {EditionName} name */
const drawStone = (side, token, name) =>
  editions[name].lifts
    ? svg`<g class="pawn ${side}"><path d=${drawing.pawn}/><ellipse cy="-5" rx="14" ry="5"/>
        <circle cy="-20" r="13"/></g>`
    : svg`<g class="stone ${side}"><polygon class="face" points=${HEX.stone}/>
        <polygon class="shine" points=${HEX.shine}/>
        <g class="covered" transform="scale(${sizes.covered})">${drawToken(token, name)}</g></g>`;

/** @param {string} token @param {EditionName} name */
const drawFreeToken = (token, name) =>
  editions[name].lifts
    ? svg`${isNeutral(token) ? nothing : svg`<path class="pad" d=${drawing.pad}/>`}${drawToken(token, name)}`
    : svg`<g transform="scale(${sizes.free})">${drawToken(token, name)}</g>`;

/** One layer of stones that have grown together. @param {Set<number>} stones @param {boolean} lifts */
const drawShapes = (stones, lifts) =>
  lifts
    ? svg`<path class="disc rim" d=${dotPath(stones)}/><path class="bar rim" d=${linkPath(stones)}/>
        <path class="disc" d=${dotPath(stones)}/><path class="bar" d=${linkPath(stones)}/>`
    : svg`<path class="outline" d=${bodyPath(stones)}/>`;

/**
 * All stones of a side, neighbours as one piece.
 * @param {string} side @param {Set<number>} stones @param {boolean} lifts
 */
function drawBody(side, stones, lifts, kind = "") {
  const depth = lifts ? sizes.thin : sizes.thick;
  return svg`<g class="body ${side} ${kind}">
    <g class="shadow" transform="translate(0 ${depth + sizes.shade})">${drawShapes(stones, lifts)}</g>
    <g class="lower" transform="translate(0 ${depth})">${drawShapes(stones, lifts)}</g>
    <g class="upper">${drawShapes(stones, lifts)}</g></g>`;
}

/** @param {Board} board @param {EditionName} name @param {string | null} landed */
function drawBodies(board, name, landed) {
  const { lifts } = editions[name];
  return /** @type {const} */ ([
    ["black", "x"],
    ["white", "o"],
  ]).map(([side, sign]) => {
    const stones = new Set(ALL_CELLS.filter((at) => board.stones[at] === sign));
    if (!stones.size) return nothing;
    const isNew = landed !== null && stones.has(CELL_NAMES.indexOf(landed));
    if (!isNew) return drawBody(side, stones, lifts);
    // A stone that has just landed joins its neighbours a moment later.
    const settled = new Set([...stones].filter((at) => CELL_NAMES[at] !== landed));
    return svg`${settled.size ? drawBody(side, settled, lifts) : nothing}${drawBody(side, stones, lifts, "joining")}`;
  });
}

/** The cells themselves: those that may be played are lit. @param {CellState[]} cells */
function drawGrounds(cells) {
  const pathOf = (/** @type {(cell: CellState) => boolean} */ fits) =>
    hexagonsPath(
      ALL_CELLS.filter((at) => fits(cells[at])),
      sizes.cell,
    );
  return svg`<path class="grounds" d=${GROUNDS}/><path class="grounds lit" d=${pathOf((cell) => cell.legal)}/>
    <path class="grounds enclosed" d=${pathOf((cell) => cell.enclosed)}/>`;
}

/** @param {EditionName} name */
const drawLastMark = (name) =>
  editions[name].lifts
    ? svg`<circle class="mark-pawn" r="43"/>`
    : svg`<polygon class="mark-last under" points=${HEX.mark}/><polygon class="mark-last" points=${HEX.mark}/>`;

// --- What there is to know of one cell -----------------------------------------------------------

/** The cells of the chains and the ring that win. @param {Board} board */
const proofCells = ({ outcome }) => (outcome ? [...outcome.links.flatMap((link) => link.chain), ...outcome.ring] : []);

/** @param {Shown} shown @param {string} name */
function cellState(shown, name) {
  const board = /** @type {Board} */ (shown.board);
  const at = CELL_NAMES.indexOf(name);
  const stone = board.stones[at];
  const legal = shown.playable && board.legal.includes(name);
  const { threats = [], losing = [], winning = [] } = shown.assistance ?? {};
  return {
    name,
    token: board.tokens[at],
    side: /** @type {"black" | "white" | null} */ ({ x: "black", o: "white" }[stone] ?? null),
    legal,
    last: name === board.last,
    landed: name === shown.landed,
    /** Whose stone is on its way here. */
    ghost: name === shown.ghost && stone === "." ? board.turn : null,
    chosen: legal && name === shown.chosen,
    glow: shown.glow.includes(name),
    warned: stone === "." && shown.warned.includes(name),
    resting: legal && name === shown.resting,
    /** Could it be played in reply to the move that is looked at? */
    reply: Boolean(shown.playable && shown.resting && board.replies[shown.resting]?.includes(name)),
    replies: legal ? board.replies[name] : undefined,
    threat: stone === "." && threats.includes(name),
    losing: legal && losing.includes(name),
    winning: legal && winning.includes(name),
    proof: proofCells(board).includes(name),
    enclosed: board.outcome?.enclosed.includes(name) ?? false,
  };
}

/** @typedef {ReturnType<typeof cellState>} CellState */

const CLASSES = /** @type {const} */ ([
  ...["legal", "last", "landed", "enclosed", "reply", "resting", "threat", "losing", "winning"],
  ...["ghost", "chosen", "glow", "warned", "proof"],
]);

/** @param {CellState} cell @param {boolean} playable */
const cellClasses = (cell, playable) =>
  [
    "cell",
    cell.side ? `on-${cell.side}` : "free",
    playable && !cell.legal && !cell.side ? "dim" : "",
    ...CLASSES.filter((name) => cell[name]),
  ].join(" ");

/** @param {CellState} cell @param {EditionName} edition @param {MoveMark | undefined} value */
function cellWords(cell, edition, value) {
  const replies = cell.replies?.length
    ? t("then your opponent may play on these spaces: {cells}", { cells: cell.replies.join(" ") })
    : t("then your opponent cannot play");
  const parts = [
    cell.name,
    cell.side === "black" && t("black stone"),
    cell.side === "white" && t("white stone"),
    isNeutral(cell.token) ? t("neutral, nobody may play here") : tokenWords(cell.token, edition),
    cell.last && t("last move"),
    cell.ghost && t("your move, on its way"),
    cell.chosen && t("chosen: play it again to confirm"),
    value?.words,
    cell.legal && t("you may play here"),
    cell.replies && replies,
    cell.winning && t("wins at once"),
    cell.losing && t("lets your opponent win next"),
    (cell.threat || cell.warned) && t("threatened by your opponent"),
    cell.proof && t("part of the winning chain"),
    cell.enclosed && t("enclosed"),
  ];
  return parts.filter(Boolean).join(", ");
}

// --- The element ---------------------------------------------------------------------------------

/** @implements {Shown} */
export class KamonBoard extends HTMLElement {
  /** @type {Board | null} */
  board = null;
  /** @type {EditionName} */
  edition = "2020";
  playable = false;
  /** @type {Shown["assistance"]} */
  assistance = null;
  /** @type {Shown["values"]} */
  values = {};
  coordinates = false;
  small = false;
  label = "";
  /** @type {string | null} */
  resting = null;
  /** @type {string | null} */
  landed = null;
  /** @type {string | null} */
  ghost = null;
  /** @type {string | null} */
  chosen = null;
  /** @type {string[]} */
  glow = [];
  /** @type {string[]} */
  warned = [];
  /** The cell that the keyboard is on. */
  #cursor = "d4";
  /** The letter of a cell that is being typed. */
  #typed = "";
  /** When a finger came down, in milliseconds; 0 for other pointers. */
  #touched = 0;
  #listens = false;
  /** Was the pointer, and not the keyboard, used last? */
  #pointed = false;

  connectedCallback() {
    if (!this.#isDecoration && !this.#listens) this.#listen();
    this.update();
  }

  /** A board that screen readers do not see is not for the keyboard or the pointer either. */
  get #isDecoration() {
    return this.ariaHidden === "true";
  }

  /** The element listens for its cells: browsers let Tab stop at SVG groups that listen for focus themselves. */
  #listen() {
    this.#listens = true;
    this.addEventListener("click", (event) => this.#at(event, (cell) => this.#onClick(cell)));
    this.addEventListener("contextmenu", (event) => this.#onContextMenu(event));
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("pointerdown", (event) => {
      this.#pointed = true;
      this.#touched = event.pointerType === "touch" ? Date.now() : 0;
    });
    this.addEventListener("pointerover", (event) => this.#at(event, (cell) => this.#rest(cell)));
    this.addEventListener("pointerleave", () => this.#rest(null));
    this.addEventListener("focusin", (event) => this.#at(event, (cell) => this.#onFocus(cell)));
    this.addEventListener("focusout", (event) => {
      if (!this.contains(/** @type {Node | null} */ (event.relatedTarget))) this.#rest(null);
    });
  }

  /** Do something with the cell that an event is about. @param {Event} event @param {(cell: string) => void} action */
  #at({ target }, action) {
    const cell = /** @type {Element} */ (target).closest("[data-cell]")?.getAttribute("data-cell");
    if (cell) action(cell);
  }

  /** Show what the properties say now. */
  update() {
    if (this.board && this.isConnected) render(this.#draw(this.board), this);
  }

  /** @param {string} cell */
  focusCell(cell) {
    this.#cursor = cell;
    this.update();
    const element = this.querySelector(`[data-cell="${cell}"]`);
    if (element instanceof SVGElement) element.focus();
  }

  // --- Events ---

  /** A tap plays. A finger that stays on a cell only shows what the move would allow. @param {string} cell */
  #onClick(cell) {
    this.#cursor = cell;
    const looked = this.#touched && Date.now() - this.#touched > LONG_TAP;
    this.#touched = 0;
    if (looked) this.#rest(null);
    else this.#play(cell);
  }

  /** @param {string} cell */
  #onFocus(cell) {
    this.#cursor = cell;
    // A pointer shows where it rests by itself, and takes it back when it leaves or is lifted.
    if (!this.#pointed && !this.#touched) this.#rest(cell);
  }

  /** A finger that stays on a cell should not open the browser's menu. @param {Event} event */
  #onContextMenu(event) {
    if (this.#touched) event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    this.#pointed = false;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    this.#touched = 0;
    const next = neighbour(this.#cursor, event);
    if (next) {
      event.preventDefault();
      this.focusCell(next);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#play(this.#cursor);
    } else if (event.key === "Escape") this.#rest(null);
    else if (LETTER.test(event.key)) this.#typed = event.key.toLowerCase();
    else if (this.#typed && CELL_NAMES.includes(this.#typed + event.key)) {
      this.focusCell(this.#typed + event.key);
      this.#typed = "";
    }
  }

  /** @param {string} cell */
  #play(cell) {
    const kind = this.playable && this.board?.legal.includes(cell) ? "kamon-play" : "kamon-refuse";
    this.dispatchEvent(new CustomEvent(kind, { detail: { cell }, bubbles: true }));
  }

  /** @param {string | null} cell */
  #rest(cell) {
    if (this.resting === cell) return;
    this.resting = cell;
    this.update();
  }

  // --- Drawing ---

  /** @param {Board} board */
  #draw(board) {
    const { outcome } = board;
    const links = outcome?.links ?? [];
    const joined = new Set(links.map((link) => link.colour));
    const edges = Array.from({ length: 6 }, (_, at) => drawEdge(at, this.edition, joined.has(PAIRS[at % 3])));
    const cells = CELL_NAMES.map((name) => cellState(this, name));
    const isEmpty = !cells.some((cell) => cell.side);
    const classes = [
      `board edition-${this.edition}`,
      this.playable ? "playable" : "",
      outcome ? "ended" : "",
      // On an empty board there would be nothing left: there the tokens show their shapes.
      this.small ? `small ${isEmpty ? "empty" : ""}` : "",
    ].join(" ");
    return html`<svg class=${classes} viewBox=${drawing.view.join(" ")} role="grid"
        aria-label=${this.label || t("Board")} aria-rowcount="7">
      <g aria-hidden="true"><polygon class="tray" points=${TRAY}/>${edges}${drawGrounds(cells)}
        ${drawBodies(board, this.edition, this.landed)}</g>
      ${rowsOf(cells).map(
        (row, at) => svg`<g role="row" aria-rowindex=${at + 1}>${row.map((cell) => this.#drawCell(cell))}</g>`,
      )}
      <g aria-hidden="true">
        ${links.map((link) => drawChain(link.chain, link.colour))}
        ${outcome?.ring.length ? drawChain(outcome.ring, null) : nothing}
        ${editions[this.edition].lifts && board.need ? drawPile(board, this.edition) : nothing}
        ${Object.entries(this.values).map(drawValue)}
      </g></svg>`;
  }

  /** @param {CellState} cell */
  #drawCell(cell) {
    const { edition } = this;
    const { name } = cell;
    const tabindex = this.#isDecoration ? nothing : Number(name === this.#cursor) - 1;
    // A ghost is drawn as a stone, so that it need not be drawn again when the move has arrived.
    const side = cell.side ?? cell.ghost;
    const content = side ? drawStone(side, cell.token, edition) : drawFreeToken(cell.token, edition);
    return svg`<g class=${cellClasses(cell, this.playable)} data-cell=${name} role="gridcell" tabindex=${tabindex}
        transform="translate(${drawing.centres[name].join(" ")})"
        aria-label=${this.#isDecoration ? nothing : cellWords(cell, edition, this.values[name])}>
      <polygon class="ground" points=${HEX.cell}/>
      <g class="content">${content}</g>
      ${cell.glow ? svg`<polygon class="mark-glow" points=${HEX.mark}/>` : nothing}
      ${cell.legal ? svg`<polygon class="mark-legal" points=${HEX.legal}/>` : nothing}
      ${cell.chosen ? svg`<polygon class="mark-chosen" points=${HEX.mark}/>` : nothing}
      ${cell.reply ? svg`<circle class="mark-reply" r="40"/>` : nothing}
      ${cell.last ? drawLastMark(edition) : nothing}
      ${cell.threat || cell.warned ? svg`<path class="mark-threat" d="M-9,-44L0,-30L9,-44Z"/>` : nothing}
      ${cell.losing ? svg`<path class="mark-losing" d="M-12,-12L12,12M12,-12L-12,12"/>` : nothing}
      ${this.coordinates ? svg`<text class="coordinate" y="-27">${name}</text>` : nothing}
      <polygon class="focus" points=${HEX.cell}/></g>`;
  }
}

customElements.define("kamon-board", KamonBoard);
