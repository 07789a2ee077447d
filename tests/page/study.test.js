import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { Draft, draftBefore, draftOf } from "../../src/kamon/web/static/js/study/drafts.js";
import { Analyst, bestMoves, marksOf, verdictWords } from "../../src/kamon/web/static/js/study/engine.js";
import { emptyStudy } from "../../src/kamon/web/static/js/study/tree.js";
import { loadSentences } from "../../src/kamon/web/static/js/words.js";
import { FakeSocket, fakeBrowser, newest, realBrowser } from "./fake_socket.js";

const study = (start, move) => ({ ...emptyStudy(start), children: [{ move, comment: "", glyphs: [], children: [] }] });

describe("drafts", () => {
  beforeEach(() => {
    const items = new Map();
    globalThis.localStorage = {
      getItem: (key) => items.get(key) ?? null,
      setItem: (key, value) => items.set(key, value),
      removeItem: (key) => items.delete(key),
    };
  });

  it("a new study takes the place of an earlier one, which stays within reach", () => {
    new Draft().keep("", study("ONE", "b1"));
    const draft = new Draft();
    draft.keep("", study("TWO", "c1"));
    draft.keep("", study("TWO", "d1"));
    assert.equal(draftOf("").children[0].move, "d1");
    assert.equal(draftBefore().start, "ONE");
  });

  it("a draft that is resumed replaces nothing", () => {
    new Draft().keep("", study("ONE", "b1"));
    const draft = new Draft();
    draft.resume();
    draft.keep("", study("ONE", "c1"));
    assert.equal(draftBefore(), null);
  });

  it("changes to a saved study are kept under its id until they are saved", () => {
    const draft = new Draft();
    draft.keep("abc", study("ONE", "b1"));
    assert.equal(draftOf(""), null);
    assert.equal(draftOf("abc").start, "ONE");
    draft.drop("abc", true);
    assert.equal(draftOf("abc"), null);
  });

  it("saving a study that was never changed forgets no other draft", () => {
    new Draft().keep("", study("ONE", "b1"));
    new Draft().drop("", true);
    assert.equal(draftOf("").start, "ONE");
  });

  it("without storage there are no drafts, and no errors", () => {
    const refuse = () => {
      throw new Error("denied");
    };
    globalThis.localStorage = { getItem: refuse, setItem: refuse, removeItem: refuse };
    const draft = new Draft();
    draft.keep("", study("ONE", "b1"));
    draft.drop("", true);
    assert.equal(draftOf(""), null);
  });
});

describe("Analyst", () => {
  beforeEach(fakeBrowser);
  afterEach(realBrowser);

  it("it connects for the first question, and asks it again after a loss", () => {
    const analyst = new Analyst(assert.fail, assert.fail);
    assert.equal(FakeSocket.made.length, 0);
    analyst.ask("study", "LINE");
    newest().open();
    assert.deepEqual(newest().sent, [{ type: "study", line: "LINE", deep: 0 }]);
    newest().lose();
    mock.timers.tick(300);
    newest().open();
    assert.deepEqual(newest().sent, [{ type: "study", line: "LINE", deep: 0 }]);
  });

  it("a question that is answered or stopped is not asked again", () => {
    const told = [];
    const analyst = new Analyst((message) => told.push(message.type), assert.fail);
    analyst.ask("review", "LINE");
    newest().open();
    newest().tell({ type: "review", end: true });
    assert.deepEqual(told, ["review"]);
    newest().lose();
    mock.timers.tick(60_000);
    assert.equal(FakeSocket.made.length, 1);
    analyst.ask("study", "OTHER");
    newest().open();
    analyst.stop();
    assert.equal(newest().sent.at(-1).type, "stop");
    newest().lose();
    mock.timers.tick(60_000);
    assert.equal(FakeSocket.made.length, 2);
  });

  it("what was on its way before a stop is not told", () => {
    const analyst = new Analyst(assert.fail, assert.fail);
    analyst.ask("review", "LINE");
    newest().open();
    analyst.stop();
    newest().tell({ type: "review", line: "LINE", progress: [1, 2] });
    newest().tell({ type: "error", code: "too-many" });
  });

  it("an error ends the question", async () => {
    const errors = [];
    const analyst = new Analyst(assert.fail, (error) => errors.push(error.code));
    analyst.ask("study", "LINE");
    newest().open();
    newest().tell({ type: "error", code: "too-many" });
    // The sentences of errors are loaded first.
    await loadSentences();
    newest().lose();
    mock.timers.tick(60_000);
    assert.deepEqual(errors, ["too-many"]);
    assert.equal(FakeSocket.made.length, 1);
  });
});

describe("values", () => {
  const move = (name, value, distance) => ({ move: name, value, distance, estimate: null });
  const insight = {
    value: "win",
    moves: [
      move("d4", "win", 3),
      move("d5", "win", 3),
      move("e4", "win", 5),
      move("c4", "loss", 4),
      move("a1", null, null),
    ],
  };

  it("the best moves win the quickest", () => {
    assert.deepEqual(bestMoves(insight), ["d4", "d5"]);
    assert.deepEqual(bestMoves({ value: null, moves: [] }), []);
  });

  it("each move has a sign and words", () => {
    const marks = marksOf(insight);
    assert.deepEqual(marks.d4, { kind: "win", text: "+2", words: "wins in 2", best: true });
    assert.deepEqual(marks.c4, { kind: "loss", text: "−2", words: "loses in 2", best: false });
    assert.deepEqual(marks.a1, { kind: "open", text: "?", words: "not proven yet", best: false });
  });

  it("the verdict names the length only when it is known of every winning move", () => {
    assert.equal(verdictWords(insight, "white"), "White wins in 2 moves if both play perfectly.");
    const moves = [...insight.moves, move("b2", "win", null)];
    assert.equal(verdictWords({ value: "win", moves }, "black"), "Black wins if both play perfectly.");
    assert.equal(verdictWords({ value: "loss", moves: [] }, "black"), "White wins if both play perfectly.");
    assert.equal(verdictWords({ value: "draw", moves: [] }, "black"), "A draw if both play perfectly.");
    assert.equal(verdictWords({ value: null, moves: [] }, "black"), "Not proven yet.");
  });
});
