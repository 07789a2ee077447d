// What decided a game, as its players read it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beatenAfter } from "../../src/kamon/web/static/js/game/levels.js";
import { momentWords, playerStory } from "../../src/kamon/web/static/js/game/story.js";

const COMPUTER = { kind: "computer", name: "", level: 2 };
const PERSON = { kind: "person", name: "", level: 0 };

/** A game in which the visitor is Black and the computer is White. */
const ROOM = { you: ["black"], shared: false, seats: { black: PERSON, white: COMPUTER } };

/** @param {number} ply @param {string} before @param {string} after */
const turn = (ply, before, after) => ({ ply, before, after, lost: 1, move: "a1", better: "b1" });

/** @param {any} story @param {any[]} turns */
const review = (story, turns = []) => ({ story: { winner: null, ply: null, ...story }, turns, moments: [] });

/** @param {number} ply @param {string} before @param {string} after */
const mistake = (ply, before, after) => playerStory(review({ kind: "mistake", ply }, [turn(ply, before, after)]), ROOM);

describe("the story of a game", () => {
  it("says of my own mistake until when I was winning", () => {
    assert.deepEqual(mistake(8, "win", "loss"), {
      title: "This move decided it.",
      words: "You were winning, but your move 5 gave the win away.",
    });
    assert.match(mistake(8, "win", "draw").words, /made it a draw/u);
    assert.equal(mistake(8, "draw", "loss").words, "You could have drawn, but your move 5 gave the draw away.");
  });

  it("says of the other's mistake that I took my chance", () => {
    assert.deepEqual(mistake(9, "win", "loss"), {
      title: "You took your chance.",
      words: "Oracle was winning, but move 5 was a mistake. From then on you were winning.",
    });
    assert.equal(mistake(9, "win", "draw").title, "You held on.");
    assert.match(mistake(9, "draw", "loss").words, /was a draw until your opponent’s move 5/u);
  });

  it("praises a game without a mistake, and blames nobody for one", () => {
    const won = review({ kind: "flawless", winner: "black" });
    assert.equal(playerStory(won, ROOM).title, "You made no mistake.");
    const lost = playerStory(review({ kind: "flawless", winner: "white" }), ROOM);
    assert.equal(lost.title, "Nobody made a mistake.");
    assert.equal(lost.words, "Oracle was winning from the first move to the last.");
  });

  it("never claims more than is proven", () => {
    const turns = [turn(4, null, null), turn(5, "win", "win")];
    const { words } = playerStory(review({ kind: "proven", winner: "white", ply: 4 }, turns), ROOM);
    assert.match(words, /Oracle was winning from move 3 on.*What happened before is not proven/u);
    assert.equal(playerStory(review({ kind: "open" }), ROOM).words, "Nothing is proven yet.");
    const resigned = playerStory(review({ kind: "off-board", winner: "white" }), ROOM);
    assert.equal(resigned.words, "Oracle was not winning on the board when the game ended.");
  });

  it("names the other moments by who made them", () => {
    assert.equal(momentWords(turn(2, "win", "draw"), ROOM), "Your move 2 turned a win into a draw.");
    assert.equal(momentWords(turn(3, "draw", "loss"), ROOM), "Oracle’s move 2 turned a draw into a loss.");
  });
});

it("a level is beaten once, and only by a win", () => {
  assert.deepEqual(beatenAfter([1], 2, true), [1, 2]);
  assert.deepEqual(beatenAfter([1, 2], 2, true), [1, 2]);
  assert.deepEqual(beatenAfter([1], 2, false), [1]);
  assert.deepEqual(beatenAfter([1], 2, null), [1]);
});
