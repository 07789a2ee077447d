import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { ALL_TOKENS, stillBoard } from "../../src/kamon/web/static/js/cells.js";
import { adviceOn, think } from "../../src/kamon/web/static/js/game/hint.js";
import { offeredLevel, streaksAfter } from "../../src/kamon/web/static/js/game/levels.js";
import { fakeBrowser, newest, realBrowser } from "./fake_socket.js";

describe("levels", () => {
  const streaksOf = (...results) => results.reduce((streaks, won) => streaksAfter(streaks, 3, won), {});

  it("two wins in a row offer the next level, three losses the one below", () => {
    assert.equal(offeredLevel(streaksOf(true), 3, 12), null);
    assert.equal(offeredLevel(streaksOf(true, true), 3, 12), 4);
    assert.equal(offeredLevel(streaksOf(false, false), 3, 12), null);
    assert.equal(offeredLevel(streaksOf(false, false, false), 3, 12), 2);
  });

  it("a win, a loss or a draw between them begins anew", () => {
    assert.equal(offeredLevel(streaksOf(true, false, true), 3, 12), null);
    assert.equal(offeredLevel(streaksOf(true, null, true), 3, 12), null);
    assert.equal(offeredLevel(streaksOf(false, false, true, false), 3, 12), null);
  });

  it("each level counts for itself, and there is none beyond the ends", () => {
    assert.deepEqual(streaksAfter({ 2: 1 }, 3, true), { 2: 1, 3: 1 });
    assert.equal(offeredLevel({ 12: 5 }, 12, 12), null);
    assert.equal(offeredLevel({ 1: -5 }, 1, 12), null);
  });
});

describe("adviceOn", () => {
  const board = stillBoard({ tokens: ALL_TOKENS.map(() => "B2") });
  const move = (name, value, distance = null, estimate = null) => ({ move: name, value, distance, estimate });
  const advice = (value, ...moves) => adviceOn({ value, moves }, board, "2020");

  it("a proven win is told with its length, and that nothing else helps only if that is proven", () => {
    const won = move("d4", "win", 5);
    const lost = move("a1", "loss", 4);
    assert.deepEqual(advice("win", won, lost), {
      words: "Play the blue fish on d4: that wins in 3 moves. Every other move loses.",
      cell: "d4",
    });
    assert.equal(
      advice("win", won, lost, move("a2", null, null, 0.01)).words,
      "Play the blue fish on d4: that wins in 3 moves.",
    );
    assert.equal(advice("win", move("d4", "win"), move("a2", "win")).words, "Play the blue fish on d4: that wins.");
  });

  it("the only move there is says so", () => {
    assert.match(advice("draw", move("d4", "draw")).words, /keeps the draw. It is the only move you have.$/u);
  });

  it("a lost position is told as it is", () => {
    assert.match(advice("loss", move("d4", "loss", 6), move("a1", "loss", 2)).words, /^Every move loses.*longest/u);
    assert.match(advice("loss", move("d4", "loss", 6), move("a1", "loss")).words, /You could try/u);
  });

  it("an estimate is called one, is never certain, and passes over what is proven to lose", () => {
    const told = advice(null, move("a1", "loss", 2), move("a2", null, null, 0.2), move("d4", null, null, 1));
    assert.equal(told.words, "Best guess: the blue fish on d4, about 99% likely to win. That is only an estimate.");
    assert.equal(advice(null, move("a1", "loss", 2)), null);
    assert.match(advice(null, move("a1", "loss", 2), move("d4", null, null, 0.5)).words, /Every other move loses.$/u);
  });
});

describe("think", () => {
  beforeEach(fakeBrowser);
  afterEach(realBrowser);
  const told = (more) => ({ type: "study", line: "LINE", value: null, moves: [], ...more });

  it("it stops at a proven win, and after four seconds with what it knows", async () => {
    const waits = [];
    const first = think("LINE", assert.fail);
    newest().open();
    newest().tell(told({ value: "win", moves: [{ move: "d4", value: "win", distance: 3 }] }));
    assert.equal((await first).value, "win");
    // Nothing is left open: a visitor may have only so many connections.
    assert.equal(newest().readyState, 3);
    const second = think("LINE", (words) => waits.push(words));
    newest().open();
    newest().tell({ type: "study", line: "LINE", waiting: true, place: 2, seconds: 15 });
    assert.match(waits[0], /number 2 in the queue. It will take about 15 s/u);
    mock.timers.tick(4000);
    newest().tell(told());
    mock.timers.tick(4000);
    assert.deepEqual((await second).moves, []);
  });

  it("an error is passed on", async () => {
    const asked = think("LINE");
    newest().open();
    newest().tell({ type: "error", code: "no-engine" });
    await assert.rejects(asked, { code: "no-engine" });
  });
});
