// What is said about puzzles.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CELL_NAMES } from "../../src/kamon/web/static/js/cells.js";
import {
  changeWords,
  ratingWords,
  THEMES,
  taskWords,
  themeHint,
  themeName,
  turnsWords,
  wrongWords,
} from "../../src/kamon/web/static/js/puzzles/sayings.js";

const tokens = CELL_NAMES.map(() => "B2");
const board = { tokens, stones: ".".repeat(37), last: null };
/** @param {object} changes */
const move = (changes) =>
  /** @type {any} */ ({ board, reply: "d4", after: { ...board, outcome: null }, value: "loss", plies: 5, ...changes });

test("every theme has a name and a hint of its own", () => {
  assert.equal(new Set(THEMES.map(themeName)).size, THEMES.length);
  assert.equal(new Set(THEMES.map(themeHint)).size, THEMES.length);
  assert.ok(THEMES.every((theme) => themeName(theme) !== theme && themeHint(theme)));
});

test("a theme of a newer server is shown by its name", () => {
  assert.equal(themeName("beauty"), "beauty");
  assert.equal(themeHint("beauty"), "");
});

test("the task says who plays and for what", () => {
  assert.match(taskWords({ side: "black", goal: "win", turns: 2 }), /Black.*winning/u);
  assert.match(taskWords({ side: "white", goal: "draw", turns: 2 }), /White.*draw/u);
  assert.equal(turnsWords(2), "2 moves to find");
});

test("a wrong move is explained by what it leads to", () => {
  assert.match(wrongWords(move({}), "black", "2020"), /White answers with .*d4 and wins in 3 moves\./u);
  assert.match(wrongWords(move({ plies: 2 }), "white", "2020"), /Black answers with .* and wins in 1 move\./u);
  assert.match(wrongWords(move({ after: { ...board, outcome: {} }, plies: 1 }), "black", "2020"), /wins at once/u);
  assert.match(wrongWords(move({ value: "draw" }), "black", "2020"), /White answers with .*draw/u);
  assert.match(
    wrongWords(move({ reply: null, after: null, value: "draw" }), "white", "2020"),
    /all 36 stones are on the board/u,
  );
});

test("a change of the rating has a sign, and an uncertain one is about right", () => {
  assert.deepEqual([changeWords(12), changeWords(0), changeWords(-7)], ["+12", "+0", "−7"]);
  assert.equal(ratingWords({ rating: 1200, sure: true }), "1200");
  assert.equal(ratingWords({ rating: 1200, sure: false }), "about 1200");
});
