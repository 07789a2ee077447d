import assert from "node:assert/strict";
import { it } from "node:test";
import {
  ALL_TOKENS,
  boardToArrange,
  CELL_NAMES,
  inRows,
  neighbour,
  rowsOf,
  shuffled,
  stillBoard,
  swapped,
  tokensIn,
} from "../../src/kamon/web/static/js/cells.js";

const press = (key, more = {}) => ({ key, code: key, shiftKey: false, ...more });

it("there are 37 cells, in rows of four to seven", () => {
  assert.equal(new Set(CELL_NAMES).size, 37);
  assert.deepEqual(
    rowsOf(CELL_NAMES).map((row) => row.length),
    [4, 5, 6, 7, 6, 5, 4],
  );
  assert.deepEqual(
    rowsOf(CELL_NAMES).map((row) => `${row[0]}-${row.at(-1)}`),
    ["a1-d1", "a2-e2", "a3-f3", "a4-g4", "b5-g5", "c6-g6", "d7-g7"],
  );
});

it("six keys lead from the middle to its six neighbours", () => {
  const keys = [press("ArrowLeft"), press("ArrowRight"), press("ArrowUp"), press("ArrowDown")];
  const shifted = [press("ArrowUp", { shiftKey: true }), press("ArrowDown", { shiftKey: true })];
  const reached = [...keys, ...shifted].map((key) => neighbour("d4", key));
  assert.deepEqual(reached, ["c4", "e4", "c3", "e5", "d3", "d5"]);
});

it("the number pad leads to the same neighbours", () => {
  const reached = [4, 6, 7, 3, 9, 1].map((digit) => neighbour("d4", press("", { code: `Numpad${digit}` })));
  assert.deepEqual(reached, ["c4", "e4", "c3", "e5", "d3", "d5"]);
});

it("what goes one way comes back the other way, and the edge of the board is the end", () => {
  for (const [there, back] of [
    ["ArrowLeft", "ArrowRight"],
    ["ArrowUp", "ArrowDown"],
  ]) {
    for (const name of CELL_NAMES) {
      const next = neighbour(name, press(there));
      assert.ok(CELL_NAMES.includes(next));
      if (next !== name) assert.equal(neighbour(next, press(back)), name);
    }
  }
  assert.equal(neighbour("a1", press("ArrowLeft")), "a1");
  assert.equal(neighbour("g7", press("ArrowRight")), "g7");
});

it("other keys lead nowhere", () => {
  assert.equal(neighbour("d4", press("Enter")), null);
});

it("a layout can be read as it was written", () => {
  const written = inRows(ALL_TOKENS);
  assert.equal(written.split("/").length, 7);
  assert.deepEqual(tokensIn(written), ALL_TOKENS);
  assert.deepEqual(tokensIn("A1 b2 Z9 --"), ["A1", "--"]);
});

it("shuffling keeps every token and changes no list", () => {
  const before = [...ALL_TOKENS];
  const mixed = shuffled(ALL_TOKENS);
  assert.deepEqual(ALL_TOKENS, before);
  assert.notDeepEqual(mixed, ALL_TOKENS);
  assert.deepEqual(new Set(mixed), new Set(ALL_TOKENS));
});

it("two tokens change places", () => {
  const after = swapped(ALL_TOKENS, "a1", "g7");
  assert.deepEqual([after[0], after[36]], [ALL_TOKENS[36], ALL_TOKENS[0]]);
  assert.deepEqual(swapped(after, "a1", "g7"), ALL_TOKENS);
});

it("a board to look at has no legal cell, one to arrange has all", () => {
  assert.deepEqual(stillBoard({ tokens: ALL_TOKENS }).legal, []);
  assert.equal(stillBoard({ tokens: ALL_TOKENS }).stones.length, 37);
  assert.deepEqual(boardToArrange({ tokens: ALL_TOKENS }, null).replies, {});
  const board = boardToArrange({ tokens: ALL_TOKENS }, "d4");
  assert.deepEqual(board.legal, CELL_NAMES);
  assert.deepEqual(board.replies, { d4: ["d4"] });
});
