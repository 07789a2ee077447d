// After a game: what decided it, the chance to do better, and another level. Loaded when a game is over.
import { html, nothing } from "../../vendor/lit-html.js";
import { tokenPicture } from "../board.js";
import { CELL_NAMES, sideAt } from "../cells.js";
import { button } from "../parts.js";
import { ask } from "../server.js";
import { prefer, preferences } from "../shell.js";
import { Analyst, waitWords } from "../study/engine.js";
import { storyWords, turnWords } from "../study/review.js";
import { errorWords, LEVEL_COUNT, levelName, moveWords, t } from "../words.js";
import { keepGoal } from "./goal.js";
import { beatenAfter, offeredLevel, streaksAfter } from "./levels.js";
import { isMine, momentWords, playerStory } from "./story.js";

/** @typedef {import("../types").RoomView} RoomView */
/** @typedef {import("../types").TurnView} Turn */
/** @typedef {import("../types").ReviewMessage} Review */

/** How many moments are shown. */
const MOMENTS = 3;
/** For how long the earlier moves are checked once the moment that decided the game is found, in milliseconds. */
const EARLIER_TIME = 20_000;

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
  /** Ends the check of the earlier moves. @type {ReturnType<typeof setTimeout> | undefined} */
  #limit;

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
    if (told.end) this.#finish();
    else if (this.#decisive?.better) this.#limit ??= setTimeout(() => this.#stop(), EARLIER_TIME);
    this.onChange();
  }

  #finish() {
    clearTimeout(this.#limit);
    this.progress = null;
  }

  /** The server keeps what it has found by then. */
  #stop() {
    this.analyst.stop();
    this.#finish();
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

  /** Has the visitor lost? Then the first question is why. */
  get isLost() {
    const { result, you } = this.room;
    return you.length === 1 && Boolean(result?.winner) && result?.winner !== you[0];
  }

  /** Is there a mistake of the visitor's own to do better? Then that is the next thing to do. */
  get isToTryAgain() {
    return (
      this.isTold && this.#decisive !== null && isMine(this.#decisive, this.room) && Boolean(this.#decisive.better)
    );
  }

  /** The mistake that decided the game, if it is found. */
  get #decisive() {
    const { story, turns } = this.review ?? {};
    return (story?.kind === "mistake" && turns?.find((turn) => turn.ply === story.ply)) || null;
  }

  panel() {
    const label = t("What decided the game");
    return html`${this.#offer()}<section class="decided ${this.isLost ? "first" : ""}" aria-label=${label}>
      ${this.review && this.isTold ? this.#story(this.review) : nothing}
      ${this.progress ? this.#working(this.progress) : nothing}
      ${this.message ? html`<p class="note">${this.message}</p>` : nothing}
      ${this.review || this.progress ? nothing : this.#question()}</section>`;
  }

  #question() {
    return button(t("What decided the game?"), () => this.start(), "");
  }

  #workWords() {
    return this.#decisive ? t("Checking the earlier moves…") : t("Looking for the moment that decided the game…");
  }

  /** @param {[number, number]} progress */
  #working([done, all]) {
    return html`<p class="small" role="status">${this.wait ? waitWords(this.wait) : this.#workWords()}
      <progress max=${all} value=${done} aria-label=${t("How much is done")}></progress></p>`;
  }

  /** @param {Review} review */
  #story(review) {
    const decisive = this.#decisive;
    const others = review.moments
      .filter((ply) => ply !== decisive?.ply)
      .map((ply) => /** @type {Turn} */ (review.turns.find((turn) => turn.ply === ply)))
      .filter((turn) => turn.lost || this.room.you.length !== 1)
      .slice(0, MOMENTS - 1);
    const before = !this.progress && isOpenBefore(review, decisive?.ply ?? null);
    const { title, words } = this.#told(review);
    return html`${title ? html`<h2>${title}</h2>` : nothing}
      <p class="story" role="status">${words}</p>
      ${decisive ? this.#contrast(decisive, true) : nothing}
      <ul class="plain moments">${others.map(
        (turn) => html`<li><p>${this.#momentWords(turn)}</p>${this.#contrast(turn, false)}</li>`,
      )}</ul>
      ${before ? html`<p class="small">${t("Some earlier moves could not be checked.")}</p>` : nothing}`;
  }

  /**
   * Players are spoken to; spectators, and two players at one screen, read about Black and White.
   * @param {Review} review
   */
  #told(review) {
    if (this.room.you.length === 1) return playerStory(review, this.room);
    const named = { ...review, turns: review.turns.map((turn) => this.#named(turn)) };
    return { title: "", words: storyWords(named) };
  }

  /** @param {Turn} turn */
  #momentWords(turn) {
    return this.room.you.length === 1 ? momentWords(turn, this.room) : turnWords(this.#named(turn));
  }

  /**
   * The move that was played and the better one, and what can be done about it.
   * @param {Turn} turn @param {boolean} main Is it the move that decided the game?
   */
  #contrast(turn, main) {
    const mine = isMine(turn, this.room) && turn.better;
    const again = () => this.#tryAgain(turn);
    return html`<div class="contrast"><span class="pair">${this.#move(turn.move, t("played"), "slip")}
      ${turn.better ? this.#better(turn, turn.better) : nothing}</span>
      <span class="row">${mine ? button(t("Try it again"), again, main ? "primary" : "") : nothing}
      ${button(t("See it"), () => this.#show(turn), "")}</span></div>`;
  }

  /** @param {Turn} turn @param {string} cell */
  #better(turn, cell) {
    const words = turn.before === "win" ? t("wins") : t("draws");
    return html`<span class="arrow" aria-hidden="true">→</span>${this.#move(cell, words, "better")}`;
  }

  /** @param {string} cell @param {string} words @param {string} kind */
  #move(cell, words, kind) {
    const token = this.room.board.tokens[CELL_NAMES.indexOf(cell)];
    return html`<span class="one ${kind}">${tokenPicture(token, preferences.edition)}
      <small>${words} · ${cell}</small></span>`;
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
    const level = this.#level ?? preferences.level;
    this.#begin({ side: sideAt(turn.ply), level, layout, moves: moves.slice(0, turn.ply) }, turn);
  }

  /** Begin another game against the computer. @param {Record<string, unknown>} wish */
  async #begin(wish, /** @type {Turn | null} */ turn = null) {
    try {
      const game = await ask("/api/games", { against: "computer", name: preferences.name, ...wish });
      if (turn?.better) keepGoal(game.id, turn);
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
    const { streaks, beaten } = preferences;
    prefer({ counted: id, streaks: streaksAfter(streaks, level, won), beaten: beatenAfter(beaten, level, won) });
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
