// A reviewed game: who was winning at each move as a drawn line, and the turning points in words.
import { html, nothing, svg } from "../../vendor/lit-html.js";
import { moveNumber, sideAt } from "../cells.js";
import { button, moveButton } from "../parts.js";
import { endWords, listWords, otherSide, sideWords, t } from "../words.js";
import { numberSign } from "./tree.js";

/** @typedef {import("../types").TurnView} Turn */
/** @typedef {import("../types").ReviewMessage} Review */
/** @typedef {import("../page").Side} Side */
/**
 * What can be done with a review.
 * @typedef {object} ReviewActions
 * @property {(ply: number) => void} go
 * @property {(turn: Turn) => void} tryOut Show the better line.
 * @property {((turn: Turn) => void) | null} playOn Against the computer.
 */

// --- In words ------------------------------------------------------------------------------------

/** What most sentences about a move name. @param {Turn} turn */
const namesIn = (turn) => ({
  n: moveNumber(turn.ply),
  side: sideWords(sideAt(turn.ply)),
  other: sideWords(otherSide(sideAt(turn.ply))),
  move: turn.move,
  better: turn.better ?? "",
});

/** @param {Review} review @param {number | null} ply */
const turnAt = (review, ply) => /** @type {Turn} */ (review.turns.find((turn) => turn.ply === ply));

/** Say in a sentence or two what decided the game. @param {Review} review */
export function storyWords(review) {
  const { kind, winner, ply } = review.story;
  if (kind === "mistake") return mistakeWords(turnAt(review, ply));
  if (kind === "flawless") return flawlessWords(winner);
  if (kind === "off-board") return offBoardWords(winner);
  if (kind !== "proven") return t("Nothing is proven yet.");
  // Where White's move is the first that is proven, both sides' are from the next number on.
  const n = moveNumber(Math.min((ply ?? 0) + 1, review.turns.at(-1)?.ply ?? 0));
  return `${provenWords(winner, n)} ${t("What happened before is not proven.")}`;
}

/** Say who stood better when a game ended off the board; it is proven. @param {Side | null} winner */
const offBoardWords = (winner) =>
  winner
    ? t("{winner} was not winning on the board when the game ended.", { winner: sideWords(winner) })
    : t("One side was winning on the board when the draw was agreed.");

/** @param {Side | null} winner */
const flawlessWords = (winner) =>
  winner
    ? t("Nobody made a mistake: {winner} was winning from the first move to the last.", { winner: sideWords(winner) })
    : t("Nobody made a mistake: if both play perfectly, this game is a draw.");

/** @param {Side | null} winner @param {number} n */
const provenWords = (winner, n) =>
  winner
    ? t("From move {n} on, {winner} was winning and nobody made a mistake.", { n, winner: sideWords(winner) })
    : t("From move {n} on, the game was a draw and nobody made a mistake.", { n });

/** Say which mistake decided the game. @param {Turn} turn */
function mistakeWords(turn) {
  const names = namesIn(turn);
  if (!turn.better) return lossWords(turn);
  const remedy =
    turn.before === "win"
      ? t("{side} would have won with {better}.", names)
      : t("{side} would have drawn with {better}.", names);
  return `${lossWords(turn)} ${remedy}`;
}

/** @param {Turn} turn */
function lossWords(turn) {
  const names = namesIn(turn);
  if (turn.before === "draw")
    return t("{side} could have drawn, but move {n}, {move}, gave the game to {other}.", names);
  return turn.after === "draw"
    ? t("{side} was winning, but move {n}, {move}, made it a draw.", names)
    : t("{side} was winning, but move {n}, {move}, gave the game to {other}.", names);
}

/** Say what a move did to the game. @param {Turn} turn */
function damageWords(turn) {
  const names = namesIn(turn);
  if (turn.before === "draw") return t("Move {n}: {side} plays {move}, which turns a draw into a loss.", names);
  return turn.after === "draw"
    ? t("Move {n}: {side} plays {move}, which turns a win into a draw.", names)
    : t("Move {n}: {side} plays {move}, which turns a win into a loss.", names);
}

/** Say what would have been better, and why. @param {Turn} turn */
function remedyWords(turn) {
  if (!turn.better) return "";
  const parts = [keepsWords(turn), reasonWords(turn)];
  if (turn.line.length > 1) parts.push(t("The game might continue: {line}.", { line: turn.line.slice(1).join(" ") }));
  return parts.filter(Boolean).join(" ");
}

/** @param {Turn} turn */
function keepsWords(turn) {
  const names = { ...namesIn(turn), move: turn.better ?? "" };
  if (turn.before !== "win") return t("{side} could still have drawn with {move}.", names);
  return turn.quickest
    ? t("{side} could still have won. The quickest way was {move}.", names)
    : t("{side} could still have won with {move}.", names);
}

/** @param {Turn} turn */
function reasonWords(turn) {
  const names = { ...namesIn(turn), cells: listWords(turn.leaves) };
  if (turn.ends === "block") return t("It leaves {other} no move.", names);
  if (turn.ends) return endWords(sideAt(turn.ply), turn.ends);
  if (turn.leaves.length === 1) return t("It leaves {other} only {cells}.", names);
  const few = turn.leaves.length > 1 && turn.leaves.length <= 3;
  return few ? t("It leaves {other} only: {cells}.", names) : "";
}

/** An estimate in per cent, which is never quite sure. @param {number | null} chance */
const percent = (chance) => Math.min(99, Math.max(1, Math.round(100 * (chance ?? 0))));

/** Say why a move that is not proven looks like a mistake. @param {Turn} turn */
function doubtWords(turn) {
  const names = { ...namesIn(turn), from: percent(turn.best_estimate), to: percent(turn.estimate) };
  return t(
    "Move {n}: {side} plays {move}. It looks doubtful: the chance of winning drops from about {from}% to {to}%. That is an estimate.",
    names,
  );
}

/** Say what is known after a move, good or bad. @param {Turn} turn */
function standingWords(turn) {
  if (!turn.after) return turn.estimate === null ? "" : t("about {n}% likely to win", { n: percent(turn.estimate) });
  const value = { win: t("wins"), draw: t("draws"), loss: t("loses") }[turn.after];
  return turn.shortened ? `${value}; ${t("ends the game {n} stones sooner", { n: turn.shortened })}` : value;
}

/** Say in a line what a move was worth. @param {Turn} turn */
export function shortWords(turn) {
  if (turn.lost) return damageWords(turn);
  const words = turn.doubtful ? t("looks doubtful") : standingWords(turn);
  return `${numberSign(turn.ply, true)}${turn.move}${words ? `: ${words}` : ""}`;
}

/** Say what the review found out about a move. @param {Turn} turn */
export function turnWords(turn) {
  if (turn.lost) return `${damageWords(turn)} ${remedyWords(turn)}`;
  return turn.doubtful ? doubtWords(turn) : standingWords(turn);
}

// --- As a drawn line -----------------------------------------------------------------------------

const WIDTH = 320;
const HEIGHT = 96;
const MIDDLE = HEIGHT / 2;
const MARGIN = 8;

/** How well Black stands after a move: 1 has won, -1 has lost. @param {Turn} turn */
export function standing(turn) {
  const mine = turn.after ? { win: 1, draw: 0, loss: -1 }[turn.after] : 2 * (turn.estimate ?? 0.5) - 1;
  return sideAt(turn.ply) === "black" ? mine : -mine;
}

/** @param {Review} review @param {number} here The ply that is on the board. @param {(ply: number) => void} go */
function graph({ turns }, here, go) {
  const step = WIDTH / Math.max(1, turns.length);
  const x = (/** @type {number} */ at) => (at + 0.5) * step;
  const y = (/** @type {number} */ at) => MIDDLE - standing(turns[at]) * (MIDDLE - MARGIN);
  const piece = (/** @type {number} */ at) =>
    svg`<line class=${
      turns[at].after && turns[at - 1].after ? "proven" : "judged"
    } x1=${x(at - 1)} y1=${y(at - 1)} x2=${x(at)} y2=${y(at)}/>`;
  const point = (/** @type {Turn} */ turn, /** @type {number} */ at) => svg`<circle class=${
    turn.lost ? "turning" : "point"
  } cx=${x(at)} cy=${y(at)} r=${turn.lost ? 5 : 2.2}/>
    <rect class="grip" x=${at * step} width=${step} height=${HEIGHT} @click=${() => go(at + 1)}/>`;
  const cursor = svg`<line class="here" x1=${x(here - 1)} x2=${x(here - 1)} y1="0" y2=${HEIGHT}/>`;
  return html`<svg class="graph" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"
      aria-label=${t("Who was winning, move by move: Black above the middle, White below")}>
    <rect class="blacks" width=${WIDTH} height=${MIDDLE}/>
    <rect class="whites" y=${MIDDLE} width=${WIDTH} height=${MIDDLE}/>
    ${here > 0 ? cursor : nothing}
    ${turns.slice(1).map((_, at) => piece(at + 1))}
    ${turns.map(point)}</svg>`;
}

// --- The panel -----------------------------------------------------------------------------------

/** The drawn line in words, one move after the other. @param {Review} review @param {(ply: number) => void} go */
function standings({ turns }, go) {
  const label = (/** @type {Turn} */ turn) => `${numberSign(turn.ply, true)}${turn.move}`;
  return html`<details class="standings"><summary>${t("Move by move")}</summary>
    <ol class="plain">${turns.map(
      (turn, at) => html`<li>${moveButton(label(turn), false, () => go(at + 1))}
        <span>${standingWords(turn)}</span></li>`,
    )}</ol></details>`;
}

/** @param {Side} side @param {number | null} share */
function accuracy(side, share) {
  const name = sideWords(side);
  const words =
    share === null
      ? t("{side}: no moves could be checked.", { side: name })
      : t("{side}: {n}% of the moves that could be checked were right.", { side: name, n: Math.round(100 * share) });
  return html`<li>${words}</li>`;
}

/** @param {Review} review @param {number} here @param {ReviewActions} actions */
export function reviewPanel(review, here, actions) {
  const moments = review.moments.map((ply) => momentItem(review, turnAt(review, ply), actions));
  const n = review.turns.filter((turn) => !turn.after || !turn.before).length;
  return html`<p class="story">${storyWords(review)}</p>
    ${graph(review, here, actions.go)}
    ${moments.length ? html`<ol class="turning-points">${moments}</ol>` : nothing}
    ${standings(review, actions.go)}
    <ul class="plain">${accuracy("black", review.accuracy.black)}${accuracy("white", review.accuracy.white)}</ul>
    ${n ? html`<p class="small">${unprovenWords(n)}</p>` : nothing}`;
}

/** @param {number} n */
const unprovenWords = (n) => t("Moves too hard to check: {n}. For these, the dashed line is only an estimate.", { n });

/** @param {Review} review @param {Turn} turn @param {ReviewActions} actions */
function momentItem(review, turn, { go, tryOut, playOn }) {
  return html`<li>
    <p>${turnWords(turn)}</p>
    <div class="row">${button(t("Show the position"), () => go(turn.ply - review.turns[0].ply))}
    ${turn.better ? button(t("Show the better line"), () => tryOut(turn)) : nothing}
    ${turn.better && playOn ? button(t("Try it against the computer"), () => playOn(turn)) : nothing}</div></li>`;
}
