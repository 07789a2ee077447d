// What is shown beside the study board: the solver, the tree of moves, the review, and ways in and out.
import { html, nothing } from "../../vendor/lit-html.js";
import {
  addressField,
  button,
  checkbox,
  errorLine,
  inputValue,
  moveButton,
  needToMatch,
  stepButtons,
} from "../parts.js";
import { preferences } from "../shell.js";
import { boardWords, roughNumberWords, t } from "../words.js";
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
  useEngine,
  writeReview,
} from "./desk.js";
import { draftBefore } from "./drafts.js";
import { bestMoves, valueWords, verdictWords } from "./engine.js";
import { arrange, goBack, keep, playOn, read, saveRecord, shuffleBoard } from "./files.js";
import { reviewPanel, sideAt } from "./review.js";
import { glyphSign, numberSign } from "./tree.js";

/** @typedef {import("../types").BranchView} Branch */
/** @typedef {import("./desk.js").Desk} Desk */

/** @param {Desk} desk */
export function panel(desk) {
  const { board, tree } = desk;
  const words = boardWords(board);
  const playOnFromHere = () => playOn(tree.path, sideAt(tree.path.length));
  return html`<aside class="panel">
    <p class="status">${tree.study.title || words}</p>${tree.study.title ? html`<p class="note">${words}</p>` : nothing}
    ${errorLine(desk.problem)}
    ${errorLine(desk.message)}
    ${board.need && !board.outcome ? needToMatch(board.need) : nothing}
    ${board.outcome ? nothing : enginePanel(desk)}
    ${movesPanel(desk)}
    ${
      tree.isFromEmptyBoard && !board.outcome
        ? html`<div class="row">${button(t("Play on against the computer from here"), playOnFromHere)}</div>`
        : nothing
    }
    ${tree.study.children.length ? reviewSection(desk) : nothing}
    ${sharePanel(desk)}
    ${openPanel(desk)}
  </aside>`;
}

// --- The solver ----------------------------------------------------------------------------------

/** @param {Desk} desk */
function enginePanel(desk) {
  return html`<section class="engine" aria-label=${t("Computer analysis")}>
    <div class="row">${checkbox(t("Computer analysis"), preferences.engine, useEngine)}
    ${engineState(desk)}</div>
    ${desk.insight ? values(desk.insight, desk) : nothing}</section>`;
}

/** @param {Desk} desk */
function engineState({ engine, insight, reviewing }) {
  if (engine === "waiting")
    return html`<span class="small">${t("Other people are using the analysis too. One moment…")}</span>`;
  if (engine === "thinking") {
    const n = insight ? roughNumberWords(insight.nodes) : "0";
    return html`<span class="small thinking">${t("{n} positions", { n })}</span>${button(t("Stop"), stopEngine)}`;
  }
  const canThink = preferences.engine && !reviewing && !insight?.done;
  return canThink ? button(t("Think deeper"), thinkDeeper) : nothing;
}

/** @param {import("../types").StudyMessage} insight @param {Desk} desk */
function values(insight, { board }) {
  const best = bestMoves(insight);
  const estimate = (/** @type {number} */ chance) =>
    html` <small>${t("estimated {n}%", { n: Math.round(100 * chance) })}</small>`;
  const item = (/** @type {import("../types").MoveValueView} */ move) => html`<li><button type="button"
    class="value-move ${move.value ?? "open"} ${best.includes(move.move) ? "best" : ""}"
    @click=${() => play(move.move)}>
    <strong>${move.move}</strong> <span>${valueWords(move)}${
      !move.value && move.estimate !== null ? estimate(move.estimate) : nothing
    }</span></button></li>`;
  return html`<p class="verdict">${board.turn ? verdictWords(insight, board.turn) : nothing}</p>
    <ul class="values">${insight.moves.map(item)}</ul>
    ${insight.pv.length ? button(t("Show the line that proves it"), () => showProof(insight.pv)) : nothing}
    <p class="small">${t("The numbers say how many stones both players still place until the end.")}</p>`;
}

// --- The moves -----------------------------------------------------------------------------------

/** @param {Desk} desk */
function movesPanel({ tree }) {
  const { path } = tree;
  const next = tree.children()[0];
  const steps = {
    first: path.length ? () => goTo([]) : null,
    back: path.length ? () => goTo(path.slice(0, -1)) : null,
    forward: next ? () => goTo([...path, next]) : null,
    last: next ? () => goTo(tree.onward()) : null,
  };
  const comment = (tree.here ?? tree.study).comment;
  return html`<section class="moves" aria-label=${t("Moves")}><div class="row">
      ${stepButtons(steps, t("Last position"))}
      ${tree.isVariation ? button(t("Make it the main line"), promote) : nothing}
      ${tree.here ? button(t("Delete from here"), cut) : nothing}</div>
    <div class="tree">${lineOfMoves([], tree)}</div>
    <label>${t("Comment")} <textarea rows="2" maxlength="2000" .value=${comment}
      @input=${(/** @type {Event} */ event) => setComment(inputValue(event))}></textarea></label></section>`;
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
function reviewSection({ tree, review, reviewing, reviewed }) {
  const progress = reviewing ? reviewProgress(reviewing) : nothing;
  if (reviewing && !review) return html`<section class="review"><h2>${t("Review")}</h2>${progress}</section>`;
  if (!review || tree.line(tree.mainLine) !== reviewed)
    return html`<div class="row">${button(t("Review this game"), startReview, "primary")}</div>`;
  const actions = {
    go: (/** @type {number} */ ply) => goTo(tree.mainLine.slice(0, ply)),
    tryOut: showBetterLine,
    playOn: tree.isFromEmptyBoard
      ? (/** @type {import("../types").TurnView} */ turn) => playOn(tree.mainLine.slice(0, turn.ply), sideAt(turn.ply))
      : null,
  };
  return html`<section class="review"><h2>${t("Review")}</h2>${progress}
    ${reviewPanel(review, tree.path.length, actions)}
    <div class="row">${!reviewing && !review.done ? button(t("Prove more"), startReview) : nothing}
    ${button(t("Add the review to the game"), () => writeReview(review))}</div></section>`;
}

/** @param {[number, number]} reviewing */
const reviewProgress = ([done, all]) => html`<p role="status" class="small">
  ${t("The computer is going through the game…")} <progress max=${all} value=${done}></progress>
  ${button(t("Stop"), stopReview)}</p>`;

// --- Ways out and in -----------------------------------------------------------------------------

/** @param {Desk} desk */
function sharePanel({ tree, kept, mine, changed, copied }) {
  const line = encodeURIComponent(tree.line());
  const address = kept ? `${location.origin}/study/${kept}` : `${location.origin}/study?line=${line}`;
  const field = { address, label: t("Link"), copied: copied === address };
  return html`<details class="share"><summary>${t("Save and share")}</summary>
    <label>${t("Title")} <input type="text" maxlength="80" .value=${tree.study.title}
      @input=${(/** @type {Event} */ event) => setTitle(inputValue(event))}></label>
    <div class="row">${button(keepLabel(kept, mine), keep, "primary")}${
      kept && mine && changed ? html`<span class="small">${t("not saved yet")}</span>` : nothing
    }</div>
    ${addressField(field, (done) => setCopied(done ? address : ""))}
    <p class="row">${button(t("Save as PGN"), saveRecord)}
      ${pictureLinks(line, encodeURIComponent(tree.line(tree.onward())))}</p></details>`;
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
function openPanel({ tree, kept, isPlain }) {
  const pasted = () => /** @type {HTMLTextAreaElement} */ (document.getElementById("pasted")).value;
  return html`<details class="open" ?open=${!tree.study.children.length && isPlain && !kept}>
    <summary>${t("Open another position")}</summary>
    <label>${t("A game (PGN), a position or a board")}
      <textarea id="pasted" rows="3" spellcheck="false"></textarea></label>
    <div class="row">${button(t("Open"), () => read(pasted()), "primary")}
      ${draftBefore() ? button(t("Back to the previous study"), goBack, "") : nothing}
      ${button(t("A shuffled board"), shuffleBoard, "")}
      ${button(t("Arrange by hand"), arrange, "")}</div></details>`;
}
