import assert from "node:assert/strict";
import { it } from "node:test";
import { emptyStudy, glyphSign, numberSign, Tree } from "../../src/kamon/web/static/js/study/tree.js";

/** 1. b1 c2 d4, with the variation 1… e3 f4. */
function sample() {
  const tree = new Tree(emptyStudy("START"));
  tree.playAll(["b1", "c2", "d4"]);
  tree.path = tree.path.slice(0, 1);
  tree.playAll(["e3", "f4"]);
  return tree;
}

const moves = (path) => path.map((branch) => branch.move).join(" ");

it("a move is added once and followed afterwards", () => {
  const tree = new Tree(emptyStudy("START"));
  assert.equal(tree.play("b1"), true);
  tree.path = [];
  assert.equal(tree.play("b1"), false);
  assert.equal(tree.study.children.length, 1);
  assert.equal(tree.line(), "START b1");
});

it("the main line is the first child of each move, wherever one is", () => {
  const tree = sample();
  assert.equal(moves(tree.path), "b1 e3 f4");
  assert.equal(moves(tree.mainLine), "b1 c2 d4");
  tree.path = tree.path.slice(0, 2);
  assert.equal(moves(tree.onward()), "b1 e3 f4");
});

it("one is in a variation, or not", () => {
  const tree = sample();
  assert.equal(tree.isVariation, true);
  tree.path = tree.mainLine;
  assert.equal(tree.isVariation, false);
});

it("a variation becomes the main line, and nothing is lost", () => {
  const tree = sample();
  tree.promote();
  assert.equal(tree.isVariation, false);
  assert.equal(moves(tree.mainLine), "b1 e3 f4");
  assert.equal(moves(tree.children(tree.path.slice(0, 1))), "e3 c2");
});

it("a move is taken out with all that follows", () => {
  const tree = sample();
  tree.path = tree.path.slice(0, 2);
  tree.cut();
  assert.equal(moves(tree.path), "b1");
  assert.equal(moves(tree.children()), "c2");
});

it("a comment belongs to the move, or at the start to the study", () => {
  const tree = sample();
  tree.comment("good");
  assert.equal(tree.here.comment, "good");
  tree.path = [];
  tree.comment("a start");
  assert.equal(tree.study.comment, "a start");
});

it("only what the server takes is kept of what it sends", () => {
  const tree = new Tree({ ...emptyStudy("START"), id: "abc", mine: true, problem: "" });
  assert.deepEqual(Object.keys(tree.study), ["start", "title", "comment", "children", "tags", "end"]);
});

it("a study may start with stones on the board", () => {
  assert.equal(new Tree(emptyStudy("LAYOUT")).isFromEmptyBoard, true);
  const tree = new Tree(emptyStudy("LAYOUT x../.o.x d4"));
  assert.equal(tree.isFromEmptyBoard, false);
  assert.equal(tree.startPly, 3);
});

it("a review is written once beside the moves, with the better line as a variation", () => {
  const tree = sample();
  const before = tree.path;
  const turns = [
    { lost: 0, doubtful: false, line: [] },
    { lost: 2, doubtful: false, line: ["g5", "g6"] },
    { lost: 0, doubtful: true, line: [] },
  ];
  for (let times = 0; times < 2; times += 1) tree.writeReview({ turns }, (turn) => (turn.lost ? "a mistake" : ""));
  assert.equal(tree.path, before);
  const [first, second, third] = tree.mainLine;
  assert.equal(second.comment, "a mistake");
  assert.deepEqual([first.glyphs, second.glyphs, third.glyphs], [[], [4], [6]]);
  assert.equal(moves(first.children), "c2 e3 g5");
});

it("moves have numbers and marks as in a record", () => {
  assert.deepEqual(
    [numberSign(0, true), numberSign(1, false), numberSign(1, true), numberSign(4, false)],
    ["1. ", "", "1… ", "3. "],
  );
  assert.deepEqual(
    [[4], [2], [6], []].map((glyphs) => glyphSign({ glyphs })),
    ["??", "?", "", ""],
  );
});
