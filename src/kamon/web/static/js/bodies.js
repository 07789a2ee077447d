// Neighbouring stones of a side as one piece with one outline. Python draws the same (render/bodies.py, which explains
// how the outline goes from corner to corner), and both are compared with the same vectors.
import data from "../artwork.js";
import { CELL_NAMES } from "./cells.js";

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
