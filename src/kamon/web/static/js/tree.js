// A study as a tree of moves: where one is, how it grows, and how it is written down.

/** @typedef {import("./types").Branch} Branch */
/** @typedef {import("./types").Study} Study */

export class Tree {
  /** @param {Study} study */
  constructor(study) {
    this.study = study;
    /** The moves from the start to where one is. @type {Branch[]} */
    this.path = [];
  }

  /** The position line of where one is, or of a way to somewhere. @param {Branch[]} [path] */
  line(path = this.path) {
    return [this.study.start, ...path.map((branch) => branch.move)].join(" ");
  }

  /** What can follow. @param {Branch[]} [path] @returns {Branch[]} */
  children(path = this.path) {
    return path.length ? path[path.length - 1].children : this.study.children;
  }

  /** The main line from somewhere to its end. @param {Branch[]} [path] @returns {Branch[]} */
  onward(path = this.path) {
    const way = [...path];
    while (this.children(way).length) way.push(this.children(way)[0]);
    return way;
  }

  /** Follow a move that is known, or add it. @param {string} move */
  play(move) {
    const known = this.children().find((branch) => branch.move === move);
    if (known) this.path = [...this.path, known];
    else {
      const added = { move, comment: "", glyphs: [], children: [] };
      this.children().push(added);
      this.path = [...this.path, added];
    }
    return !known;
  }

  /** Go as far as these moves are known. @param {string[]} moves */
  goTo(moves) {
    this.path = [];
    for (const move of moves) {
      const next = this.children().find((branch) => branch.move === move);
      if (!next) return;
      this.path = [...this.path, next];
    }
  }

  /** Take the move where one is out of the tree, with all that follows. */
  cut() {
    const gone = this.path[this.path.length - 1];
    this.path = this.path.slice(0, -1);
    const siblings = this.children();
    siblings.splice(siblings.indexOf(gone), 1);
  }

  /** Make the way to where one is the main line. */
  promote() {
    this.path.forEach((branch, at) => {
      const siblings = this.children(this.path.slice(0, at));
      siblings.splice(siblings.indexOf(branch), 1);
      siblings.unshift(branch);
    });
  }

  /** Is where one is off the main line? */
  get aside() {
    return this.path.some((branch, at) => this.children(this.path.slice(0, at))[0] !== branch);
  }
}

/** @returns {Study} */
export const emptyStudy = (/** @type {string} */ start) => ({ start, title: "", comment: "", children: [] });
