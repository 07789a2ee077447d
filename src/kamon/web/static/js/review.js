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
  const values = { n: moveNumber(turn.ply), side: sideName(turn.ply), move: turn.move };
  if (turn.before === "draw") return t("Move {n}: {side} plays {move}, which turns a draw into a loss.", values);
  return turn.after === "draw"
    ? t("Move {n}: {side} plays {move}, which turns a win into a draw.", values)
    : t("Move {n}: {side} plays {move}, which turns a win into a loss.", values);
}

/** @param {number} ply */
const moveNumber = (ply) => Math.floor(ply / 2) + 1;

/** Say in a sentence or two what decided the game. @param {Review} review */
export function storyWords(review) {
  const { kind, winner, ply } = review.story;
  const name = winner === "black" ? t("Black") : t("White");
  // Where White's move is the first that is proven, both sides' are from the next number on.
  const at = { winner: name, n: moveNumber(Math.min((ply ?? 0) + 1, review.turns.at(-1)?.ply ?? 0)) };
  if (kind === "mistake") return mistakeWords(/** @type {Turn} */ (review.turns.find((turn) => turn.ply === ply)));
  if (kind === "flawless") return winner ? t("Nobody made a mistake: {winner} was winning from the first move to the last.", at) : t("Nobody made a mistake: with best play this game is a draw.");
  if (kind === "proven") return `${winner ? t("From move {n} on {winner} was winning, and nobody made a mistake.", at) : t("From move {n} on the game was a draw, and nobody made a mistake.", at)} ${t("What happened before is not proven.")}`;
  return t("Nothing is proven yet.");
}

/** @param {Turn} turn */
function mistakeWords(turn) {
  const values = { side: sideName(turn.ply), other: otherName(turn.ply), n: moveNumber(turn.ply), move: turn.move, better: turn.better ?? "" };
  const what = turn.before === "draw" ? t("{side} could have drawn, but move {n}, {move}, gave the game to {other}.", values)
    : turn.after === "draw" ? t("{side} was winning, but move {n}, {move}, made it a draw.", values)
    : t("{side} was winning, but move {n}, {move}, gave the game to {other}.", values);
  if (!turn.better) return what;
  return `${what} ${turn.before === "win" ? t("{side} would have won with {better}.", values) : t("{side} would have drawn with {better}.", values)}`;
}

/** An estimate in per cent, which is never quite sure. @param {number | null} chance */
const percent = (chance) => Math.min(99, Math.max(1, Math.round(100 * (chance ?? 0))));

/** Say why a move that is not proven looks like a mistake. @param {Turn} turn */
function doubtWords(turn) {
  return t("Move {n}: {side} plays {move}. It looks doubtful: the chance to win falls from about {from} % to {to} %. That is an estimate.", {
    n: moveNumber(turn.ply), side: sideName(turn.ply), move: turn.move, from: percent(turn.best_estimate), to: percent(turn.estimate),
  });
}

/** Say what would have been better, and why. @param {Turn} turn */
function remedy(turn) {
  if (!turn.better) return "";
  const values = { side: sideName(turn.ply), other: otherName(turn.ply), move: turn.better, cells: turn.leaves.join(" ") };
  const kept = turn.quickest ? t("{side} could still win, the quickest by {move}.", values) : t("{side} could still win by {move}.", values);
  const parts = [turn.before === "win" ? kept : t("{side} could still draw by {move}.", values)];
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
  if (turn.doubtful) return doubtWords(turn);
  if (turn.after) return [{ win: t("wins"), draw: t("draws"), loss: t("loses") }[turn.after], turn.shortened ? t("ends the game {n} stones sooner", { n: turn.shortened }) : ""].filter(Boolean).join("; ");
  return turn.estimate === null ? "" : t("estimated {n} %", { n: percent(turn.estimate) });
}

/** The drawn line in words, one move after the other. @param {Review} review @param {(ply: number) => void} onGo */
function standings(review, onGo) {
  return html`<details class="standings"><summary>${t("Move by move")}</summary><ol class="plain">${review.turns.map((turn, at) => html`<li>
    <button type="button" class="move" @click=${() => onGo(at + 1)}>${Math.floor(turn.ply / 2) + 1}${black(turn.ply) ? "." : "…"} ${turn.move}</button>
    <span>${turnWords({ ...turn, lost: 0, doubtful: false })}</span></li>`)}</ol></details>`;
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
  const moments = review.moments.map((ply) => /** @type {Turn} */ (review.turns.find((turn) => turn.ply === ply)));
  const unproven = review.turns.filter((turn) => !turn.after || !turn.before).length;
  return html`<p class="story">${storyWords(review)}</p>
    ${moments.length ? html`<ol class="turning-points">${moments.map((turn) => momentItem(review, turn, actions))}</ol>` : nothing}
    ${graph(review, here, actions.go)}${standings(review, actions.go)}
    <ul class="plain">${accuracy("black", review.accuracy.black)}${accuracy("white", review.accuracy.white)}</ul>
    ${unproven ? html`<p class="small">${t("Moves that are not proven: {n}. They are estimated by random games: the dashed part of the line.", { n: unproven })}</p>` : nothing}`;
}

/** @param {Review} review @param {Turn} turn @param {Parameters<typeof reviewPanel>[2]} actions */
function momentItem(review, turn, actions) {
  return html`<li>
    <p>${turn.lost ? html`${damage(turn)} ${remedy(turn)}` : doubtWords(turn)}</p>
    <div class="row"><button type="button" class="quiet" @click=${() => actions.go(turn.ply - review.turns[0].ply)}>${t("Look at it")}</button>
    ${turn.better ? html`<button type="button" class="quiet" @click=${() => actions.tryOut(turn)}>${t("Show the better line")}</button>` : nothing}
    ${turn.better && actions.playOn ? html`<button type="button" class="quiet" @click=${() => actions.playOn?.(turn)}>${t("Play it against the computer")}</button>` : nothing}</div></li>`;
}
