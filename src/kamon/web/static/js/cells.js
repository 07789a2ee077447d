// The 37 cells of the board by name, in reading order, and the steps between them:
//
//          a1  b1  c1  d1
//        a2  b2  c2  d2  e2
//      a3  b3  c3  d3  e3  f3
//    a4  b4  c4  d4  e4  f4  g4
//      b5  c5  d5  e5  f5  g5
//        c6  d6  e6  f6  g6
//          d7  e7  f7  g7
import data from "../artwork.js";

const ROW_LENGTHS = [4, 5, 6, 7, 6, 5, 4];
const LETTERS = "abcdefg";

/** The cells in reading order, as `tokens` and `stones` have them. */
export const CELL_NAMES = ROW_LENGTHS.flatMap((length, row) =>
  Array.from({ length }, (_, at) => `${LETTERS[Math.max(0, row - 3) + at]}${row + 1}`),
);
export const NO_STONES = ".".repeat(CELL_NAMES.length);
const NEUTRAL = "--";
/** One of each token, sorted. */
export const ALL_TOKENS = [..."ABCDEF"].flatMap((symbol) => [..."123456"].map((suit) => symbol + suit)).concat(NEUTRAL);

/** @typedef {[number, number]} Step By so many letters, and by so many rows. */
/** @type {Record<string, Step>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [-1, -1], ArrowDown: [1, 1] };
/** @type {Record<string, Step>} */
const ARROWS_WITH_SHIFT = { ...ARROWS, ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @type {Record<string, Step>} */
const NUMBER_PAD = {
  Numpad4: [-1, 0],
  Numpad6: [1, 0],
  Numpad7: [-1, -1],
  Numpad9: [0, -1],
  Numpad1: [0, 1],
  Numpad3: [1, 1],
};

/**
 * The cell that a key leads to, which is the same one at the edge of the board, or null for other keys.
 * @param {string} name @param {{key: string, code: string, shiftKey: boolean}} pressed
 */
export function neighbour(name, pressed) {
  const step = (pressed.shiftKey ? ARROWS_WITH_SHIFT : ARROWS)[pressed.key] ?? NUMBER_PAD[pressed.code];
  if (!step) return null;
  const other = `${LETTERS[LETTERS.indexOf(name[0]) + step[0]]}${Number(name[1]) + step[1]}`;
  return CELL_NAMES.includes(other) ? other : name;
}

/** Cut a list of one thing for each cell into the rows of the board. @template T @param {T[]} things */
export function rowsOf(things) {
  let start = 0;
  return ROW_LENGTHS.map((length) => {
    start += length;
    return things.slice(start - length, start);
  });
}

/** Write tokens or stones as the server reads them: rows joined by slashes. @param {string[]} parts */
export const inRows = (parts) =>
  rowsOf(parts)
    .map((row) => row.join(""))
    .join("/");

/** Read the tokens of a layout, with or without slashes; what is no token is passed over. @param {string} text */
export const tokensIn = (text) => text.replace(/[/\s]/gu, "").match(/[A-F][1-6]|--/gu) ?? [];

/** @template T @param {T[]} things @param {string} one @param {string} other The names of their cells. */
export function swapped(things, one, other) {
  const result = [...things];
  const [first, second] = [CELL_NAMES.indexOf(one), CELL_NAMES.indexOf(other)];
  [result[first], result[second]] = [result[second], result[first]];
  return result;
}

/** @template T @param {T[]} things */
export function shuffled(things) {
  const result = [...things];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = crypto.getRandomValues(new Uint32Array(1))[0] % (at + 1);
    [result[at], result[other]] = [result[other], result[at]];
  }
  return result;
}

/**
 * A board to look at, on which nothing can be played.
 * @param {{tokens: string[], stones?: string, last?: string | null, need?: string | null}} shown
 * @returns {import("./types").BoardView}
 */
export const stillBoard = ({ tokens, stones = NO_STONES, last = null, need = null }) => ({
  tokens,
  stones,
  last,
  need,
  turn: null,
  legal: [],
  replies: {},
  chain: [],
  outcome: null,
});

/**
 * A board on which every cell can be chosen, and one may wait for another.
 * @param {{tokens: string[], stones?: string, last?: string | null}} shown @param {string | null} held
 * @returns {import("./types").BoardView}
 */
export const boardToArrange = (shown, held) => ({
  ...stillBoard(shown),
  turn: "black",
  legal: CELL_NAMES,
  replies: held ? { [held]: [held] } : {},
});

/** Is this token the one that nobody may play on? @param {string} token */
export const isNeutral = (token) => token === NEUTRAL;

/** Who plays a ply. @param {number} ply @returns {import("./page").Side} */
export const sideAt = (ply) => (ply % 2 ? "white" : "black");

/** Both players' moves of a turn have the same number, as in a record. @param {number} ply */
export const moveNumber = (ply) => Math.floor(ply / 2) + 1;

// --- Chains --------------------------------------------------------------------------------------

// Neighbouring stones of a side are one piece with one outline. Python draws the same (render/bodies.py, which explains
// how the outline goes from corner to corner), and both are compared with the same vectors.
const { drawing } = /** @type {import("./page").Artwork} */ (data);
const { beyond, centres, sizes } = drawing;
const SIDES = 6;

/** @param {number} x @param {number} y */
const place = (x, y) => `${x.toFixed(1)},${y.toFixed(1)}`;

/**
 * A corner around the centre of a cell, clockwise from the top.
 * @param {number} cell @param {number} at @param {number} radius
 */
function corner(cell, at, radius) {
  const [x, y] = centres[CELL_NAMES[cell]];
  const angle = (at * Math.PI) / 3;
  return place(x + radius * Math.sin(angle), y - radius * Math.cos(angle));
}

/** Hexagons around the centres of some cells. @param {number[]} cells @param {number} radius */
export const hexagonsPath = (cells, radius) =>
  cells.map((cell) => `M${Array.from({ length: SIDES }, (_, at) => corner(cell, at, radius)).join("L")}Z`).join("");

/**
 * From each corner of the outline to the next; a corner is a number: six times its cell, and its place there.
 * @param {Set<number>} stones @returns {Map<number, number>}
 */
function followers(stones) {
  const next = new Map();
  for (const cell of stones)
    for (let side = 0; side < SIDES; side += 1) {
      const other = beyond[cell][side];
      const before = beyond[cell][(side + SIDES - 1) % SIDES];
      if (!stones.has(other)) next.set(cell * SIDES + side, cell * SIDES + ((side + 1) % SIDES));
      else if (!stones.has(before)) next.set(cell * SIDES + side, other * SIDES + ((side + 4) % SIDES));
    }
  return next;
}

/** The outline of some stones, in the order of their cells. @param {Set<number>} stones */
export function bodyPath(stones) {
  const next = followers(stones);
  const lines = [];
  for (const start of next.keys()) {
    const line = [];
    for (let at = start; next.has(at); ) {
      line.push(corner(Math.floor(at / SIDES), at % SIDES, sizes.stone));
      const following = /** @type {number} */ (next.get(at));
      next.delete(at);
      at = following;
    }
    if (line.length) lines.push(`M${line.join("L")}Z`);
  }
  return lines.join("");
}

/** The lines between neighbours. @param {Set<number>} stones */
export const linkPath = (stones) =>
  [...stones]
    .flatMap((cell) =>
      [1, 2, 3].filter((side) => stones.has(beyond[cell][side])).map((side) => [cell, beyond[cell][side]]),
    )
    .map((pair) => `M${pair.map((cell) => place(...centres[CELL_NAMES[cell]])).join("L")}`)
    .join("");

/** Dots at the centres. @param {Set<number>} stones */
export const dotPath = (stones) => [...stones].map((cell) => `M${place(...centres[CELL_NAMES[cell]])}h0`).join("");
