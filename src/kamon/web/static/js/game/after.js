// After a game: what decided it, the chance to do better, and another level. Loaded when a game is over.
import { html, nothing } from "../../vendor/lit-html.js";
import { button } from "../parts.js";
import { ask } from "../server.js";
import { prefer, preferences } from "../shell.js";
import { Analyst, waitWords } from "../study/engine.js";
import { sideAt, storyWords, turnWords } from "../study/review.js";
import { errorWords, LEVEL_COUNT, levelName, moveWords, sideWords, t } from "../words.js";
import { offeredLevel, streaksAfter } from "./levels.js";

/** @typedef {import("../types").RoomView} RoomView */
/** @typedef {import("../types").TurnView} Turn */
/** @typedef {import("../types").ReviewMessage} Review */

/** No more than so many moments are shown. */
const MOMENTS = 3;

/** Are there moves before a mistake that could not be proven? @param {Review} review @param {number | null} ply */
export const isOpenBefore = ({ turns }, ply) =>
  ply !== null && turns.some((turn) => turn.ply < ply && !(turn.before && turn.after));

export class Afterwards {
  /** @type {Review | null} */
  review = null;
  /** How much is done, and of how much. @type {[number, number] | null} */
  progress = null;
  message = "";
  /** How long it takes until others have been served. @type {import("../study/engine.js").Wait | null} */
  wait = null;
  /** The moment that is on the board. @type {Turn | null} */
  shown = null;

  /** @param {RoomView} room @param {() => void} onChange @param {(ply: number) => void} look */
  constructor(room, onChange, look) {
    this.room = room;
    this.onChange = onChange;
    this.look = look;
    this.line = [room.layout, ...room.moves].join(" ");
    this.analyst = new Analyst(
      (told) => this.#hear(told),
      (error) => this.#fail(error),
    );
  }

  start() {
    this.progress = [0, 1];
    this.message = "";
    this.analyst.ask("review", this.line);
    this.onChange();
  }

  /** Is there something to tell? A mistake that was found stays one; that there was none is known at the end. */
  get isTold() {
    return this.review !== null && (!this.progress || this.review.story.kind === "mistake");
  }

  /** @param {any} told */
  #hear(told) {
    if (told.line !== this.line) return;
    this.wait = told.waiting ? told : null;
    if (told.progress) this.progress = told.progress;
    if (told.turns) this.review = told;
    if (told.end) this.progress = null;
    this.onChange();
  }

  /** @param {any} error */
  #fail(error) {
    this.progress = null;
    this.message = errorWords(error);
    this.onChange();
  }

  /**
   * What the board shows on the position of a moment: the move that was played, and a better one.
   * @param {number} ply
   */
  marksAt(ply) {
    if (this.shown?.ply !== ply) return {};
    const { move, better } = this.shown;
    /** @type {Record<string, import("../page").MoveMark>} */
    const marks = { [move]: { kind: "loss", text: "?", words: t("was played"), best: false } };
    if (better) marks[better] = { kind: "win", text: "!", words: t("was better"), best: true };
    return marks;
  }

  // --- What decided it ---

  /** @param {Turn} turn @returns {Turn} With words for moves. */
  #named(turn) {
    const name = (/** @type {string} */ cell) => moveWords(this.room.board, cell, preferences.edition);
    return {
      ...turn,
      move: name(turn.move),
      better: turn.better && name(turn.better),
      leaves: turn.leaves.map(name),
      // A whole line belongs on the study board.
      line: [],
    };
  }

  panel() {
    return html`${this.#offer()}<section class="decided" aria-label=${t("What decided the game")}>
      ${this.review && this.isTold ? this.#story(this.review) : nothing}
      ${this.progress ? this.#working(this.progress) : nothing}
      ${this.message ? html`<p class="note">${this.message}</p>` : nothing}
      ${this.review || this.progress ? nothing : this.#question()}</section>`;
  }

  #question() {
    return button(t("What decided the game?"), () => this.start(), "");
  }

  /** @param {[number, number]} progress */
  #working([done, all]) {
    const words = this.wait ? waitWords(this.wait) : t("Looking for the moment that decided the game…");
    return html`<p class="small" role="status">${words}
      <progress max=${all} value=${done} aria-label=${t("How much is done")}></progress></p>`;
  }

  /** @param {Review} review */
  #story(review) {
    const named = { ...review, turns: review.turns.map((turn) => this.#named(turn)) };
    const decisive = review.story.kind === "mistake" ? review.story.ply : null;
    const plies = [decisive, ...review.moments.filter((ply) => ply !== decisive)].filter((ply) => ply !== null);
    const moments = plies.slice(0, MOMENTS).map((ply) => {
      const turn = /** @type {Turn} */ (review.turns.find((each) => each.ply === ply));
      return html`<li>${ply === decisive ? nothing : html`<p>${turnWords(this.#named(turn))}</p>`}
        <div class="row">${button(t("Show"), () => this.#show(turn))}
        ${button(t("Try it yourself"), () => this.#tryAgain(turn), "")}</div></li>`;
    });
    const words = review.story.kind === "off-board" ? offBoardWords(review) : storyWords(named);
    const before = !this.progress && isOpenBefore(review, decisive) ? t("What happened before is not proven.") : "";
    return html`<p class="story" role="status">${words} ${before}</p><ul class="plain moments">${moments}</ul>`;
  }

  /** @param {Turn} turn */
  #show(turn) {
    this.shown = turn;
    this.look(turn.ply);
    document.querySelector("kamon-board")?.scrollIntoView({ block: "nearest" });
  }

  /** Play on from before a mistake, with the side that made it. @param {Turn} turn */
  #tryAgain(turn) {
    const { layout, moves } = this.room;
    this.#begin({
      side: sideAt(turn.ply),
      level: this.#level ?? preferences.level,
      layout,
      moves: moves.slice(0, turn.ply),
    });
  }

  /** Begin another game against the computer. @param {Record<string, unknown>} wish */
  async #begin(wish) {
    try {
      const game = await ask("/api/games", { against: "computer", name: preferences.name, ...wish });
      location.href = `/game/${game.id}`;
    } catch (error) {
      this.#fail(error);
    }
  }

  // --- Another level ---

  /** The level of the computer, if one plays against it. */
  get #level() {
    const { seats, you, shared } = this.room;
    if (shared || you.length !== 1) return null;
    return seats.black.level || seats.white.level || null;
  }

  /** Count the game that has just ended, once. */
  count() {
    const level = this.#level;
    const { id, result, you } = this.room;
    if (!level || !result || preferences.counted === id) return;
    const won = result.winner && you.includes(result.winner);
    prefer({ counted: id, streaks: streaksAfter(preferences.streaks, level, won) });
  }

  #offer() {
    const level = this.#level;
    if (!level || preferences.counted !== this.room.id) return nothing;
    const next = offeredLevel(preferences.streaks, level, LEVEL_COUNT);
    if (!next) return nothing;
    const words =
      next > level
        ? t("You have won {n} games in a row. Ready for a stronger opponent?", { n: preferences.streaks[level] })
        : t("This level is hard. Would you like an easier opponent?");
    const begin = () => {
      prefer({ level: next, streaks: { ...preferences.streaks, [level]: 0 } });
      this.#begin({ level: next });
    };
    const label = t("Play level {n} ({name})", { n: next, name: levelName(next) });
    return html`<div class="offer level-offer"><p>${words}</p>
      <div class="row">${button(label, begin, "primary")}</div></div>`;
  }
}

/** Say who stood better when a game ended off the board; it is proven. @param {Review} review */
const offBoardWords = ({ story }) =>
  story.winner
    ? t("{winner} was not winning on the board when the game ended.", { winner: sideWords(story.winner) })
    : t("One side was winning on the board when the draw was agreed.");
