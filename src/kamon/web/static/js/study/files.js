// Ways into a study and out of it: texts, records, games, arranged positions, the server's store.
import { ALL_TOKENS, inRows, shuffled } from "../cells.js";
import { ask, Latest, request, ServerError } from "../server.js";
import { announce, preferences } from "../shell.js";
import { defectWords, errorWords, LEVEL_COUNT, loadSentences, t } from "../words.js";
import { analyst, desk, draft, goTo, keepDraft, root, showError, startReview, update, wanted } from "./desk.js";
import { draftBefore, draftOf } from "./drafts.js";
import { emptyStudy, placeIn, Tree } from "./tree.js";

/** @typedef {import("../types").BranchView} Branch */
/** @typedef {import("../page").StudyTree} Study */

/** The server reads no longer texts, in characters. */
const LONGEST_TEXT = 60_000;
const readings = new Latest();
const savings = new Latest();

// --- Opening -------------------------------------------------------------------------------------

/** Open what the address asks for, else what was not saved at the last visit, else an empty board. */
export async function begin() {
  const game = wanted.get("game");
  const line = wanted.get("line");
  if (desk.kept) await openKept(desk.kept);
  else if (game) await openGame(game);
  else if (line) open(await ask("/api/studies/read", { text: line }), true);
  else openDraft();
}

/** @param {string} id */
async function openKept(id) {
  const study = await ask(`/api/studies/${id}`);
  desk.mine = study.mine;
  desk.seen = study.updated;
  const newer = study.mine ? draftOf(id) : null;
  desk.changed = newer !== null;
  open(newer ?? study);
}

/** @param {string} id */
async function openGame(id) {
  const record = await request(`/api/games/${encodeURIComponent(id)}/record`);
  open(await ask("/api/studies/read", { text: await record.text() }), true);
  if (wanted.has("review")) startReview();
}

function openDraft() {
  draft.resume();
  open(draftOf("") ?? emptyStudy(inRows(shuffled(ALL_TOKENS))));
}

/** @param {Study} study @param {boolean} [atEnd] Look at the end of its main line, not at its start. */
function open(study, atEnd = false) {
  readings.cancel();
  savings.cancel();
  desk.tree = new Tree(study);
  if (desk.reviewing) analyst.stop();
  Object.assign(desk, { review: null, reviewed: "", reviewing: null });
  desk.arranging = null;
  goTo(atEnd ? desk.tree.mainLine : []);
}

/** Open a study that is not saved anywhere. @param {Study} study */
function openNew(study) {
  Object.assign(desk, { kept: "", mine: true, seen: null });
  draft.startNew();
  history.replaceState(null, "", "/study");
  open(study);
  keepDraft();
}

/** Change places with the study before. */
export function goBack() {
  const before = draftBefore();
  if (before) openNew(before);
}

/** Longer lists of what is wrong help nobody, in characters. */
const LONGEST_DETAIL = 140;

/** What the server would answer to a text that is too long. @returns {Promise<never>} */
async function tooLong() {
  await loadSentences();
  throw new ServerError({ code: "too-large" });
}

/** @param {string} text @param {import("../server.js").Trouble} trouble @param {string} message */
function misread(text, trouble, message) {
  const detail = defectWords(trouble);
  desk.misread = {
    message,
    detail: detail.length > LONGEST_DETAIL ? `${detail.slice(0, LONGEST_DETAIL)}…` : detail,
    place: trouble.column ? placeIn(text, trouble.line ?? 1, trouble.column) : null,
  };
}

/** Read what somebody has pasted, and say beside it what cannot be read. @param {string} text */
export async function readPasted(text) {
  /** @param {import("../server.js").Trouble} trouble */
  const onError = (trouble) => {
    misread(text, trouble, errorWords({ ...trouble, defects: [] }));
    update();
  };
  desk.misread = null;
  const found = await read(text, onError);
  if (!found) return;
  if (found.problem) {
    await loadSentences();
    misread(text, found.problem, t("Only the part before this error was opened:"));
  } else desk.tab = "moves";
  update();
}

export function shuffleBoard() {
  if (desk.board) read(inRows(shuffled(desk.board.tokens)));
}

/**
 * Open a text. @param {string} text @param {(error: any) => void} [onError]
 * @returns {Promise<any>} What was read, if it has been opened.
 */
async function read(text, onError = showError) {
  /** @type {any} */
  let opened = null;
  const isTooLong = text.length > LONGEST_TEXT;
  await readings.show(
    isTooLong ? tooLong() : ask("/api/studies/read", { text }),
    (found) => {
      opened = found;
      openNew(found);
    },
    onError,
  );
  return opened;
}

// --- Arranging -----------------------------------------------------------------------------------

export async function arrange() {
  const { ArrangingView } = await import("./arranging.js");
  if (!desk.board) return;
  analyst.stop();
  desk.arranging = new ArrangingView(desk.board, root, readArranged, () => {
    desk.arranging = null;
    update();
  });
  update();
}

/** Study what was arranged; if it is no position, say so beside the arrangement. @param {string} line */
async function readArranged(line) {
  if ((await read(line)) || !desk.arranging) return;
  desk.arranging.message = desk.message;
  desk.message = "";
  update();
}

// --- Keeping and playing on ----------------------------------------------------------------------

/** Save the study on the server, or a copy of somebody else's. */
export function keep() {
  const { kept, mine, seen, tree } = desk;
  const isSaved = kept && mine;
  const sent = JSON.stringify(tree.study);
  savings.show(
    ask(isSaved ? `/api/studies/${kept}` : "/api/studies", isSaved ? { ...tree.study, seen } : tree.study),
    ({ id, updated }) => {
      draft.drop(kept, mine);
      // Whatever was changed while the answer was on its way has not been saved.
      const changed = JSON.stringify(desk.tree.study) !== sent;
      if (changed) draft.keep(id, desk.tree.study);
      Object.assign(desk, { kept: id, mine: true, seen: updated, changed, message: "" });
      history.replaceState(null, "", `/study/${id}`);
      announce(t("Saved."));
      update();
    },
    showError,
  );
}

export async function saveRecord() {
  try {
    const record = await request("/api/studies/record", desk.tree.study);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await record.blob());
    link.download = "kamon.pgn";
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    showError(error);
  }
}

/** Play on from somewhere against the strongest level. @param {Branch[]} path @param {import("../page").Side} side */
export async function playOn(path, side) {
  const moves = path.map((branch) => branch.move);
  const wish = { against: "computer", level: LEVEL_COUNT, side, layout: desk.tree.study.start, moves };
  try {
    const game = await ask("/api/games", { ...wish, name: preferences.name });
    location.href = `/game/${game.id}`;
  } catch (error) {
    showError(error);
  }
}
