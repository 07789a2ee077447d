// What is shown beside the study board: the solver, the tree of moves, the review, and ways in and out.
import { html, nothing } from "../../vendor/lit-html.js";
import { sideAt } from "../cells.js";
import { addressField, button, errorLine, inputValue, moveButton, needToMatch, stepButtons, toggle } from "../parts.js";
import { preferences } from "../shell.js";
import { boardWords, percentWords, roughNumberWords, t } from "../words.js";
import {
  cut,
  goTo,
  play,
  promote,
  setComment,
  setCopied,
  setTitle,
  showBetterLine,
  showProof,
  startReview,
  stopEngine,
  stopReview,
  thinkDeeper,
  turnTo,
  useEngine,
  writeReview,
} from "./desk.js";
import { draftBefore } from "./drafts.js";
import { bestMoves, valueWords, verdictWords, waitWords } from "./engine.js";
import { arrange, goBack, keep, playOn, readPasted, saveRecord, shuffleBoard } from "./files.js";
import { reviewPanel, shortWords } from "./review.js";
import { glyphSign, numberSign } from "./tree.js";

/** @typedef {import("../types").BranchView} Branch */
/** @typedef {import("./desk.js").Desk} Desk */

// --- Under the board -----------------------------------------------------------------------------

/** The steps, whose turn it is, and what is known of this moment: always in view. @param {Desk} desk */
export function bar(desk) {
  const { board, tree } = desk;
  const next = tree.children()[0];
  // Where one is now, not when this was drawn: a second press may come before the board has.
  const forward = () => goTo([...tree.path, ...tree.children().slice(0, 1)]);
  const steps = {
    first: tree.path.length ? () => goTo([]) : null,
    back: tree.path.length ? () => goTo(tree.path.slice(0, -1)) : null,
    forward: next ? forward : null,
    last: next ? () => goTo(tree.onward()) : null,
  };
  return html`<div class="bar">
      <div class="steps">${stepButtons(steps, t("Last position"))}</div>
      <p class="status">${tree.study.title || boardWords(board)}</p></div>
    ${moment(desk)}`;
}

/** @param {Desk} desk */
function moment({ board, tree, insight, review, reviewed }) {
  const isReviewed = review && tree.path.length && !tree.isVariation && tree.line(tree.mainLine) === reviewed;
  const turn = isReviewed ? review.turns[tree.path.length - 1] : null;
  if (turn) return html`<p class="moment ${turn.lost ? "lost" : ""}">${shortWords(turn)}</p>`;
  if (insight && board.turn) return html`<p class="moment verdict">${verdictWords(insight, board.turn)}</p>`;
  return html`<p class="moment">${tree.study.title ? boardWords(board) : nothing}</p>`;
}

// --- Beside the board ----------------------------------------------------------------------------

/** @param {Desk} desk */
export function panel(desk) {
  const { board, tab } = desk;
  return html`<aside class="panel" data-tab=${tab}>
    ${errorLine(desk.message)}
    <div class="need-place">${whatToMatch(board)}</div>
    ${tabs(tab)}
    <div class="tree">${lineOfMoves([], desk.tree)}</div>
    <div role="tabpanel" id="tab-panel" aria-labelledby="tab-${tab}">${PANELS[tab](desk)}</div>
  </aside>`;
}

/** @param {import("../types").BoardView} board */
function whatToMatch({ need, outcome }) {
  if (outcome)
    return html`<div class="need"><p>${t("The game is over here. Step back to see what could be played.")}</p></div>`;
  if (need) return needToMatch(need);
  return html`<div class="need"><p>${t("Black begins on an edge space, but not on a corner.")}</p></div>`;
}

/** @typedef {import("./desk.js").TabName} TabName */
/** @type {Record<TabName, (desk: Desk) => unknown>} */
const PANELS = {
  moves: movesPanel,
  analysis: enginePanel,
  review: reviewSection,
  more: (desk) => html`${sharePanel(desk)}${openPanel(desk)}`,
};
const TABS = /** @type {TabName[]} */ (Object.keys(PANELS));

/** @param {TabName} open */
function tabs(open) {
  /** @type {Record<TabName, string>} */
  const labels = { moves: t("Moves"), analysis: t("Analysis"), review: t("Review"), more: t("More") };
  return html`<div class="tabs" role="tablist" @keydown=${onTabKey}>${TABS.map(
    (tab) => html`<button type="button" role="tab" id="tab-${tab}" aria-controls="tab-panel"
      aria-selected=${String(tab === open)} tabindex=${tab === open ? 0 : -1}
      @click=${() => turnTo(tab)}>${labels[tab]}</button>`,
  )}</div>`;
}

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** Arrows lead from tab to tab. @param {KeyboardEvent} event */
function onTabKey(event) {
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const at = TABS.findIndex((tab) => `tab-${tab}` === /** @type {Element} */ (event.target).id);
  const next = TABS[(at + step + TABS.length) % TABS.length];
  turnTo(next);
  document.getElementById(`tab-${next}`)?.focus();
}

// --- The solver ----------------------------------------------------------------------------------

/** @param {Desk} desk */
function enginePanel(desk) {
  if (desk.board.outcome) return html`<p class="note">${boardWords(desk.board)}</p>`;
  return html`<section class="engine" aria-label=${t("Computer analysis")}>
    <div class="row">${toggle(t("Computer analysis"), preferences.engine, useEngine)}
    ${engineState(desk)}</div>
    ${desk.insight ? values(desk.insight) : nothing}</section>`;
}

/** @param {Desk} desk */
function engineState({ engine, insight, reviewing, wait }) {
  if (engine === "thinking" && wait) return html`<span class="small">${waitWords(wait)}</span>`;
  if (engine === "thinking") {
    const n = insight ? roughNumberWords(insight.nodes) : "0";
    return html`<span class="small thinking">${t("Positions looked at: {n}", { n })}</span>
      ${button(t("Stop"), stopEngine)}`;
  }
  const canThink = preferences.engine && !reviewing && !insight?.done;
  return canThink ? button(t("Think deeper"), thinkDeeper) : nothing;
}

/** @param {import("../types").StudyMessage} insight */
function values(insight) {
  const best = bestMoves(insight);
  const known = (/** @type {import("../types").MoveValueView} */ move) =>
    move.value || move.estimate === null
      ? html`<span>${valueWords(move)}</span>`
      : html`<span class="chance">${percentWords(move.estimate)}</span>`;
  const item = (/** @type {import("../types").MoveValueView} */ move) => html`<li><button type="button"
    class="value-move ${move.value ?? "open"} ${best.includes(move.move) ? "best" : ""}"
    @click=${() => play(move.move)}>
    <strong>${move.move}</strong> ${known(move)}</button></li>`;
  const note = insight.moves.some((move) => move.distance !== null)
    ? t("The numbers say how many moves the winner still needs.")
    : t("The percentages say how likely each move is to win. They are estimates.");
  return html`<ul class="values">${insight.moves.map(item)}</ul>
    ${insight.pv.length ? button(t("Show how"), () => showProof(insight.pv)) : nothing}
    <p class="small">${note}</p>`;
}

// --- The moves -----------------------------------------------------------------------------------

/** @param {Desk} desk */
function movesPanel({ tree, board }) {
  const comment = (tree.here ?? tree.study).comment;
  const playOnFromHere = () => playOn(tree.path, sideAt(tree.path.length));
  return html`<section class="moves" aria-label=${t("Moves")}>
    <label>${t("Comment")} <textarea rows="2" maxlength="2000" .value=${comment}
      @input=${(/** @type {Event} */ event) => setComment(inputValue(event))}></textarea></label>
    <div class="row">
      ${tree.isVariation ? button(t("Make it the main line"), promote) : nothing}
      ${tree.here ? button(t("Delete from here"), cut) : nothing}
      ${
        tree.isFromEmptyBoard && !board.outcome
          ? button(t("Play on against the computer from here"), playOnFromHere)
          : nothing
      }</div></section>`;
}

/**
 * One line of moves, and the variations that leave it.
 * @param {Branch[]} start @param {import("./tree.js").Tree} tree @returns {unknown[]}
 */
function lineOfMoves(start, tree) {
  /** @type {unknown[]} */
  const words = [];
  let path = start;
  for (let children = tree.children(path); children.length; children = tree.children(path)) {
    const [main, ...others] = children;
    words.push(moveInTree([...path, main], tree));
    for (const other of others) words.push(variation([...path, other], tree));
    path = [...path, main];
  }
  return words;
}

/** @param {Branch[]} path @param {import("./tree.js").Tree} tree */
const variation = (path, tree) =>
  html`<span class="variation">(${moveInTree(path, tree)}${lineOfMoves(path, tree)})</span>`;

/** @param {Branch[]} path @param {import("./tree.js").Tree} tree */
function moveInTree(path, tree) {
  const branch = /** @type {Branch} */ (path.at(-1));
  const number = numberSign(path.length - 1 + tree.startPly, path.length === 1);
  const label = number + branch.move + glyphSign(branch);
  const comment = branch.comment ? html`<span class="said">${branch.comment}</span>` : nothing;
  return html`${moveButton(label, branch === tree.here, () => goTo(path))}${comment} `;
}

// --- The review ----------------------------------------------------------------------------------

/** @param {Desk} desk */
function reviewSection({ tree, review, reviewing, reviewed, wait }) {
  const progress = reviewing ? reviewProgress(reviewing, wait) : nothing;
  if (!tree.study.children.length)
    return html`<p class="note">${t("Play some moves first. Then the computer can look for mistakes in them.")}</p>`;
  if (reviewing && !review) return html`<section class="review" aria-label=${t("Review")}>${progress}</section>`;
  if (!review || tree.line(tree.mainLine) !== reviewed)
    return html`<p class="note">${t("The computer goes through the moves and looks for mistakes.")}</p>
      <div class="row">${button(t("Review this game"), startReview, "primary")}</div>`;
  const actions = {
    go: (/** @type {number} */ ply) => goTo(tree.mainLine.slice(0, ply)),
    tryOut: showBetterLine,
    playOn: tree.isFromEmptyBoard
      ? (/** @type {import("../types").TurnView} */ turn) => playOn(tree.mainLine.slice(0, turn.ply), sideAt(turn.ply))
      : null,
  };
  const more = review.done ? nothing : button(t("Check more moves"), startReview);
  return html`<section class="review" aria-label=${t("Review")}>
    ${reviewing ? progress : html`<div class="row">${more}</div>`}
    ${reviewPanel(review, tree.path.length, actions)}
    <div class="row">${button(t("Add the review to the game"), () => writeReview(review))}</div></section>`;
}

/** @param {[number, number]} reviewing @param {import("./engine.js").Wait | null} wait */
const reviewProgress = ([done, all], wait) => html`<div role="status" class="row small">
  <span>${wait ? waitWords(wait) : t("The computer is going through the game…")}</span>
  <progress max=${all} value=${done}></progress>
  ${button(t("Stop"), stopReview)}</div>`;

// --- Ways out and in -----------------------------------------------------------------------------

/** @param {Desk} desk */
function sharePanel({ tree, kept, mine, changed, copied }) {
  const line = encodeURIComponent(tree.line());
  const address = kept ? `${location.origin}/study/${kept}` : `${location.origin}/study?line=${line}`;
  const field = { address, label: t("Link"), copied: copied === address };
  return html`<section class="share"><h2>${t("Save and share")}</h2>
    <label>${t("Title")} <input type="text" maxlength="80" .value=${tree.study.title}
      @input=${(/** @type {Event} */ event) => setTitle(inputValue(event))}></label>
    <div class="row">${button(keepLabel(kept, mine), keep, "primary")}${
      kept && mine && changed ? html`<span class="small">${t("not saved yet")}</span>` : nothing
    }</div>
    ${addressField(field, (done) => setCopied(done ? address : ""))}
    <p class="row">${button(t("Save as PGN"), saveRecord)}
      ${pictureLinks(line, encodeURIComponent(tree.line(tree.onward())))}</p></section>`;
}

/** @param {string} kept @param {boolean} mine */
function keepLabel(kept, mine) {
  if (!kept) return t("Save this study");
  return mine ? t("Save") : t("Save my own copy");
}

/** @param {string} line To this position. @param {string} whole To the end of the line. */
function pictureLinks(line, whole) {
  const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  const look = `&edition=${preferences.edition}&theme=${theme}`;
  return html`<a class="button quiet" href="/api/picture.svg?line=${line}${look}" download="kamon.svg">SVG</a>
      <a class="button quiet" href="/api/picture.png?line=${line}${look}" download="kamon.png">PNG</a>
      <a class="button quiet" href="/api/film.gif?line=${whole}${look}" download="kamon.gif">GIF</a>
      <a class="button quiet" href="/api/film.webp?line=${whole}${look}" download="kamon.webp">WebP</a>`;
}

/** @param {Desk} desk */
function openPanel({ misread }) {
  const pasted = () => /** @type {HTMLTextAreaElement} */ (document.getElementById("pasted")).value;
  return html`<section class="open"><h2>${t("Open another position")}</h2>
    <label>${t("A game (PGN), a position or a board")}
      <textarea id="pasted" rows="3" spellcheck="false" aria-invalid=${misread ? "true" : nothing}
        aria-describedby=${misread ? "misread" : nothing}></textarea></label>
    ${misread ? misreadLines(misread) : nothing}
    <div class="row">${button(t("Open"), () => readPasted(pasted()), "primary")}
      ${draftBefore() ? button(t("Back to the previous study"), goBack, "") : nothing}
      ${button(t("A shuffled board"), shuffleBoard, "")}
      ${button(t("Arrange by hand"), arrange, "")}</div></section>`;
}

/** @param {import("./desk.js").Misread} misread */
function misreadLines({ message, detail, place }) {
  const [before, bad, behind] = place ?? [];
  return html`<div class="misread" id="misread" role="alert"><p class="error">${message}</p>
    ${place ? html`<p class="place">${before}<mark>${bad}</mark>${behind}</p>` : nothing}
    ${detail ? html`<p class="small">${detail}</p>` : nothing}</div>`;
}
