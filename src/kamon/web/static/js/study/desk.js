// The study that is open: what is known of it, and what happens on its board.
import { boardIn } from "../parts.js";
import { ask, Latest } from "../server.js";
import { announce, emptyRoot, prefer, preferences } from "../shell.js";
import { errorWords, t } from "../words.js";
import { Draft } from "./drafts.js";
import { Analyst, verdictWords } from "./engine.js";
import { turnWords } from "./review.js";
import { emptyStudy, Tree } from "./tree.js";

/** @typedef {import("../types").BoardView} Board */
/** @typedef {import("../types").BranchView} Branch */
/** @typedef {import("../types").ReviewMessage} Review */
/** @typedef {import("../types").TurnView} Turn */

/**
 * A text that could not be read, or not to its end.
 * @typedef {object} Misread
 * @property {string} message
 * @property {string} detail
 * @property {[string, string, string] | null} place The bad part, and what stands before and behind it in its line.
 */

/**
 * What is shown.
 * @typedef {object} Desk
 * @property {Tree} tree
 * @property {Board} board
 * @property {import("../types").StudyMessage | null} insight What the solver knows of this position.
 * @property {"idle" | "thinking"} engine
 * @property {import("./engine.js").Wait | null} wait How long it takes until others have been served.
 * @property {number} deep How often the solver was told to think deeper.
 * @property {Review | null} review
 * @property {[number, number] | null} reviewing How much of a review is done, and of how much.
 * @property {string} reviewed The line that is reviewed, or was.
 * @property {string} kept The id of the study on the server, if it is saved there.
 * @property {boolean} mine May we change it there?
 * @property {number | null} seen When it was last saved, as far as we know.
 * @property {boolean} changed Since it was saved.
 * @property {string} copied The address that was copied last.
 * @property {string} message An error.
 * @property {TabName} tab What is shown beside the board.
 * @property {Misread | null} misread What could not be read of a pasted text.
 * @property {import("./arranging.js").ArrangingView | null} arranging A position that is arranged by hand.
 */

/** @typedef {"moves" | "analysis" | "review" | "more"} TabName */

const DEEPEST = 2;

export const root = emptyRoot("study");
export const wanted = new URLSearchParams(location.search);
export const draft = new Draft();
const positions = new Latest();
/** @type {Map<string, Board>} */
const boards = new Map();

/** @type {Omit<Desk, "board"> & {board: Board | null}} */
export const desk = {
  tree: new Tree(emptyStudy("")),
  board: null,
  insight: null,
  engine: "idle",
  wait: null,
  deep: 0,
  review: null,
  reviewing: null,
  reviewed: "",
  kept: root.dataset.study ?? "",
  mine: true,
  seen: null,
  changed: false,
  copied: "",
  message: "",
  tab: "analysis",
  misread: null,
  arranging: null,
};

/** Shows the desk; the page sets it. */
let show = () => {
  // Before the page has begun there is nothing to show.
};

/** @param {() => void} listener */
export function onChange(listener) {
  show = listener;
}

export const update = () => show();

/** @param {any} error */
export function showError(error) {
  desk.message = errorWords(error);
  update();
}

/** @param {TabName} tab */
export function turnTo(tab) {
  desk.tab = tab;
  update();
}

// --- The solver ----------------------------------------------------------------------------------

export const analyst = new Analyst(onTold, (error) => {
  desk.engine = "idle";
  desk.reviewing = null;
  showError(error);
});

/** @param {any} told */
function onTold(told) {
  desk.wait = told.waiting ? told : null;
  if (told.type === "review" && told.line === desk.reviewed) onReview(told);
  if (told.type === "study" && told.line === desk.tree.line()) onInsight(told);
  update();
}

/** @param {any} told */
function onInsight(told) {
  desk.engine = told.end ? "idle" : "thinking";
  if (!told.moves) return;
  const isNew = told.value && told.value !== desk.insight?.value;
  desk.insight = told;
  if (isNew && desk.board?.turn) announce(verdictWords(told, desk.board.turn));
}

/** @param {any} told */
function onReview(told) {
  if (told.progress) desk.reviewing = told.progress;
  if (told.turns) desk.review = told;
  if (told.end) {
    announce(t("The review is ready."));
    desk.reviewing = null;
    think(0);
  }
}

/** Let the solver think about this position. @param {number} deep */
function think(deep) {
  desk.deep = deep;
  if (!desk.board || desk.board.outcome || !preferences.engine || desk.reviewing) return;
  desk.engine = "thinking";
  desk.wait = null;
  analyst.ask("study", desk.tree.line(), deep);
}

export const thinkDeeper = () => think(Math.min(DEEPEST, desk.deep + 1));

export function stopEngine() {
  analyst.stop();
  desk.engine = "idle";
  update();
}

/** @param {boolean} wished */
export function useEngine(wished) {
  prefer({ engine: wished });
  if (wished) {
    think(0);
    return;
  }
  desk.insight = null;
  stopEngine();
}

export function startReview() {
  const line = desk.tree.line(desk.tree.mainLine);
  if (line !== desk.reviewed) desk.review = null;
  desk.reviewing = [0, 1];
  desk.wait = null;
  desk.tab = "review";
  desk.engine = "idle";
  desk.reviewed = line;
  analyst.ask("review", line);
  update();
}

export function stopReview() {
  analyst.stop();
  desk.reviewing = null;
  update();
}

/** @param {Review} review */
export function writeReview(review) {
  desk.tree.writeReview(review, turnWords);
  change();
}

// --- Moving about --------------------------------------------------------------------------------

/** Ask for the board of the position where one is, and then for its value. */
function arrive() {
  desk.insight = null;
  desk.engine = "idle";
  if (!desk.reviewing) analyst.stop();
  positions.show(
    boardOf(desk.tree.line()),
    (board) => {
      desk.board = board;
      think(0);
      update();
    },
    showError,
  );
}

/** @param {string} line */
async function boardOf(line) {
  const board = boards.get(line) ?? (await ask(`/api/board?line=${encodeURIComponent(line)}`));
  boards.set(line, board);
  return board;
}

/** @param {Branch[]} path */
export function goTo(path) {
  desk.tree.path = path;
  desk.message = "";
  arrive();
}

/** @param {string} move */
export function play(move) {
  if (desk.tree.play(move)) keepDraft();
  desk.message = "";
  announce(move);
  const element = boardIn(root);
  if (element) element.landed = move;
  arrive();
}

/** Add moves behind a path, and step to the first of them. @param {Branch[]} path @param {string[]} moves */
function addLine(path, moves) {
  const { tree } = desk;
  tree.path = path;
  if (tree.playAll(moves)) keepDraft();
  goTo(tree.path.slice(0, path.length + 1));
}

/** @param {Turn} turn */
export const showBetterLine = (turn) => addLine(desk.tree.mainLine.slice(0, turn.ply - desk.tree.startPly), turn.line);

/** @param {string[]} moves */
export const showProof = (moves) => addLine(desk.tree.path, moves);

// --- Changing ------------------------------------------------------------------------------------

/** Something is new that is not saved yet; the browser stores it meanwhile. */
export function keepDraft() {
  desk.changed = true;
  if (!desk.kept || desk.mine) draft.keep(desk.kept, desk.tree.study);
}

function change() {
  keepDraft();
  update();
}

/** @param {string} text */
export function setComment(text) {
  desk.tree.comment(text);
  change();
}

/** @param {string} title */
export function setTitle(title) {
  desk.tree.study.title = title;
  change();
}

export function promote() {
  desk.tree.promote();
  change();
}

export function cut() {
  desk.tree.cut();
  keepDraft();
  arrive();
}

/** @param {string} address */
export function setCopied(address) {
  desk.copied = address;
  update();
}
