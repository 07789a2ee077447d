// A reviewed game: who was winning at each move as a drawn line, and the turning points in words.
import { html, nothing, svg } from "../vendor/lit-html.js";
import { t } from "./words.js";

/** @typedef {import("./types").Turn} Turn */
/** @typedef {import("./types").Review} Review */

/** @param {number} ply */
const black = (ply) => ply % 2 === 0;
/** @param {number} ply */
const sideName = (ply) => (black(ply) ? t("Black") : t("White"));
/** @param {number} ply */
const otherName = (ply) => sideName(ply + 1);

/** How well Black stands after a move: 1 has won, -1 has lost. @param {Turn} turn */
function standing(turn) {
  const mine = turn.after ? { win: 1, draw: 0, loss: -1 }[turn.after] : 2 * (turn.estimate ?? 0.5) - 1;
  return black(turn.ply) ? mine : -mine;
}

/** Say what a move did to the game. @param {Turn} turn */
function damage(turn) {
  const values = { n: Math.floor(turn.ply / 2) + 1, side: sideName(turn.ply), move: turn.move };
  if (turn.before === "draw") return t("Move {n}: {side} plays {move}, which turns a draw into a loss.", values);
  return turn.after === "draw"
    ? t("Move {n}: {side} plays {move}, which turns a win into a draw.", values)
    : t("Move {n}: {side} plays {move}, which turns a win into a loss.", values);
}

/** Say what would have been better, and why. @param {Turn} turn */
function remedy(turn) {
  if (!turn.better) return "";
  const values = { side: sideName(turn.ply), other: otherName(turn.ply), move: turn.better, cells: turn.leaves.join(" ") };
  const parts = [turn.before === "win" ? t("{side} could still win by {move}.", values) : t("{side} could still draw by {move}.", values)];
  const won = { winner: values.side };
  if (turn.ends === "connection") parts.push(t("{winner} wins by linking two opposite sides.", won));
  else if (turn.ends === "loop") parts.push(t("{winner} wins by closing a loop.", won));
  else if (turn.ends === "connection+loop") parts.push(t("{winner} wins by a link and a loop at once.", won));
  else if (turn.ends === "block") parts.push(t("It leaves {other} nothing to play.", values));
  else if (turn.leaves.length === 1) parts.push(t("It leaves {other} only {cells}.", values));
  else if (turn.leaves.length > 1 && turn.leaves.length <= 3) parts.push(t("It leaves {other} only these: {cells}.", values));
  if (turn.line.length > 1) parts.push(t("It may go on like this: {line}.", { line: turn.line.slice(1).join(" ") }));
  return parts.join(" ");
}

/** Say what the review found out about a move. @param {Turn} turn */
export function turnWords(turn) {
  if (turn.lost) return `${damage(turn)} ${remedy(turn)}`;
  if (turn.after) return { win: t("wins"), draw: t("draws"), loss: t("loses") }[turn.after];
  return turn.estimate === null ? "" : t("judged {n} %", { n: Math.round(100 * turn.estimate) });
}

/** The drawn line in words, one move after the other. @param {Review} review @param {(ply: number) => void} onGo */
function standings(review, onGo) {
  return html`<details class="standings"><summary>${t("Move by move")}</summary><ol class="plain">${review.turns.map((turn, at) => html`<li>
    <button type="button" class="move" @click=${() => onGo(at + 1)}>${Math.floor(turn.ply / 2) + 1}${black(turn.ply) ? "." : "…"} ${turn.move}</button>
    <span>${turnWords({ ...turn, lost: 0 })}</span></li>`)}</ol></details>`;
}

/** @param {Review} review @param {number} here The ply that is on the board. @param {(ply: number) => void} onGo */
function graph(review, here, onGo) {
  const width = 320, height = 96, step = width / Math.max(1, review.turns.length);
  const points = review.turns.map((turn, at) => ({ turn, x: (at + 0.5) * step, y: height / 2 - standing(turn) * (height / 2 - 8) }));
  const pieces = points.slice(1).map((point, at) => svg`<line class=${point.turn.after && points[at].turn.after ? "proven" : "judged"} x1=${points[at].x} y1=${points[at].y} x2=${point.x} y2=${point.y}/>`);
  return html`<svg class="graph" viewBox="0 0 ${width} ${height}" role="img" aria-label=${t("Who was winning, move by move: above the middle Black, below it White")}>
    <rect class="blacks" width=${width} height=${height / 2}/><rect class="whites" y=${height / 2} width=${width} height=${height / 2}/>
    ${here > 0 ? svg`<line class="here" x1=${(here - 0.5) * step} x2=${(here - 0.5) * step} y1="0" y2=${height}/>` : nothing}
    ${pieces}
    ${points.map((point, at) => svg`<circle class=${point.turn.lost ? "turning" : "point"} cx=${point.x} cy=${point.y} r=${point.turn.lost ? 5 : 2.2}/>
      <rect class="grip" x=${at * step} width=${step} height=${height} @click=${() => onGo(at + 1)}/>`)}</svg>`;
}

/** @param {"black" | "white"} side @param {number | null} share */
function accuracy(side, share) {
  const name = side === "black" ? t("Black") : t("White");
  return share === null
    ? html`<li>${t("{side}: nothing is proven.", { side: name })}</li>`
    : html`<li>${t("{side}: {n} % of the proven moves threw nothing away.", { side: name, n: Math.round(100 * share) })}</li>`;
}

/**
 * @param {Review} review
 * @param {number} here
 * @param {{go: (ply: number) => void, tryOut: (turn: Turn) => void, playOn: ((turn: Turn) => void) | null}} actions
 */
export function reviewPanel(review, here, actions) {
  const turning = review.turns.filter((turn) => turn.lost);
  const judged = review.turns.filter((turn) => !turn.after).length;
  return html`${graph(review, here, actions.go)}${standings(review, actions.go)}
    <ul class="plain">${accuracy("black", review.accuracy.black)}${accuracy("white", review.accuracy.white)}</ul>
    ${judged ? html`<p class="small">${t("The first {n} moves are judged by trial games, not proven: the dashed part of the line.", { n: judged })}</p>` : nothing}
    ${turning.length ? html`<ol class="turning-points">${turning.map((turn) => html`<li>
      <p>${damage(turn)} ${remedy(turn)}</p>
      <div class="row"><button type="button" class="quiet" @click=${() => actions.go(turn.ply - review.turns[0].ply)}>${t("Look at it")}</button>
      ${turn.better ? html`<button type="button" class="quiet" @click=${() => actions.tryOut(turn)}>${t("Show the better line")}</button>` : nothing}
      ${turn.better && actions.playOn ? html`<button type="button" class="quiet" @click=${() => actions.playOn?.(turn)}>${t("Play it against the computer")}</button>` : nothing}</div></li>`)}</ol>`
      : html`<p>${t("No proven mistake: from where it can be proven, both played perfectly.")}</p>`}`;
}
