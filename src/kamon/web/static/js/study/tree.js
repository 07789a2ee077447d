// A study as a tree of moves: where one is, how it grows, and how it is written down.

/** @typedef {import("../types").BranchView} Branch */
/** @typedef {import("../page").StudyTree} Study */

/** @param {string} start @returns {Study} */
export const emptyStudy = (start) => ({ start, title: "", comment: "", children: [], tags: {}, end: null });

export class Tree {
  /** @param {Study} study */
  constructor(study) {
    const { start, title, comment, children, tags, end } = study;
    /** Only what the server takes back: a study that it sends has more. @type {Study} */
    this.study = { start, title: title ?? "", comment: comment ?? "", children: children ?? [], tags: tags ?? {}, end };
    /** The moves from the start to where one is. @type {Branch[]} */
    this.path = [];
  }

  /** The move that led to where one is, if any. */
  get here() {
    return this.path.at(-1);
  }

  /** The moves of the main line from the start to its end. */
  get mainLine() {
    return this.onward([]);
  }

  /** Is where one is off the main line? */
  get isVariation() {
    return this.path.some((branch, at) => this.children(this.path.slice(0, at))[0] !== branch);
  }

  /** How many stones lay on the board at the start. */
  get startPly() {
    const stones = this.study.start.split(" ")[1] ?? "";
    return [...stones].filter((sign) => sign === "x" || sign === "o").length;
  }

  /** Does it start from an empty board? Only then it has all the moves that a game needs. */
  get isFromEmptyBoard() {
    return !this.study.start.includes(" ");
  }

  /** The position line of where one is, or of another path. @param {Branch[]} [path] */
  line(path = this.path) {
    return [this.study.start, ...path.map((branch) => branch.move)].join(" ");
  }

  /** What can follow. @param {Branch[]} [path] @returns {Branch[]} */
  children(path = this.path) {
    return path.at(-1)?.children ?? this.study.children;
  }

  /** The path, and from its end on the main line. @param {Branch[]} [path] @returns {Branch[]} */
  onward(path = this.path) {
    const way = [...path];
    for (let next = this.children(way)[0]; next; next = next.children[0]) way.push(next);
    return way;
  }

  /** Follow a move that is known, or add it. @param {string} move @returns {boolean} Was it added? */
  play(move) {
    const known = this.children().find((branch) => branch.move === move);
    const next = known ?? { move, comment: "", glyphs: [], clock: null, children: [] };
    if (!known) this.children().push(next);
    this.path = [...this.path, next];
    return !known;
  }

  /** Play several moves. @param {string[]} moves @returns {boolean} Was any of them added? */
  playAll(moves) {
    // Every move has to be played, also after one was added.
    return moves.map((move) => this.play(move)).includes(true);
  }

  /** Take the move where one is out of the tree, with all that follows. */
  cut() {
    const gone = /** @type {Branch} */ (this.here);
    this.path = this.path.slice(0, -1);
    const siblings = this.children();
    siblings.splice(siblings.indexOf(gone), 1);
  }

  /** Make the path to where one is the main line. */
  promote() {
    this.path.forEach((branch, at) => {
      const siblings = this.children(this.path.slice(0, at));
      siblings.splice(siblings.indexOf(branch), 1);
      siblings.unshift(branch);
    });
  }

  /** Write a comment about where one is. @param {string} text */
  comment(text) {
    (this.here ?? this.study).comment = text;
  }

  /**
   * Put what a review says beside the moves of the main line, and better lines as variations.
   * @param {import("../types").ReviewMessage} review @param {(turn: import("../types").TurnView) => string} wordsOf
   */
  writeReview({ turns }, wordsOf) {
    const { mainLine, path } = this;
    turns.forEach((turn, at) => {
      const branch = mainLine[at];
      const words = wordsOf(turn);
      const glyph = glyphOf(turn);
      if (words && !branch.comment.includes(words)) branch.comment = [branch.comment, words].filter(Boolean).join(" ");
      if (glyph && !branch.glyphs.includes(glyph)) branch.glyphs.push(glyph);
      this.path = mainLine.slice(0, at);
      if (turn.lost) this.playAll(turn.line);
    });
    this.path = path;
  }
}

/** So many characters of a line are shown before and behind a bad part. */
const CONTEXT = 24;
const WORD = /^\S+/u;

/**
 * Cut a line into what is bad, what stands before it, and what follows.
 * @param {string} text @param {number} line @param {number} column Both count from one.
 * @returns {[string, string, string]}
 */
export function placeIn(text, line, column) {
  const words = text.split("\n")[line - 1] ?? "";
  const rest = words.slice(column - 1);
  const [bad] = WORD.exec(rest) ?? [rest.slice(0, 1)];
  return [
    words.slice(Math.max(0, column - 1 - CONTEXT), column - 1),
    bad,
    rest.slice(bad.length, bad.length + CONTEXT),
  ];
}

/** Numeric glyphs as PGN has them. */
const MISTAKE = 2;
const BLUNDER = 4;
const DUBIOUS = 6;

/** @param {import("../types").TurnView} turn */
function glyphOf(turn) {
  if (turn.lost === 2) return BLUNDER;
  if (turn.lost) return MISTAKE;
  return turn.doubtful ? DUBIOUS : 0;
}

/** The mark behind a move. @param {Branch} branch */
export function glyphSign({ glyphs }) {
  if (glyphs.includes(BLUNDER)) return "??";
  return glyphs.includes(MISTAKE) ? "?" : "";
}

/** The number before a move, where one is written. @param {number} ply @param {boolean} isFirst In its line. */
export function numberSign(ply, isFirst) {
  if (ply % 2 && !isFirst) return "";
  return `${Math.floor(ply / 2) + 1}${ply % 2 ? "…" : "."} `;
}
