// The page of one game: what it knows, what comes from the server, and what the visitor does.
import { html, nothing, render } from "../vendor/lit-html.js";
import { actions, ending, moveList, need, player, score, seldom } from "./game/panel.js";
import { notify, Signals } from "./game/signals.js";
import { boardIn, errorLine, playSound, showBoard } from "./parts.js";
import { ask, Latest, remove } from "./server.js";
import { announce, emptyRoot, onPreferences, preferences } from "./shell.js";
import { GameConnection } from "./socket.js";
import {
  blockWords,
  declinedWords,
  errorWords,
  isMyTurn,
  newsWords,
  otherSide,
  playerWords,
  proofWords,
  refusalWords,
  resultWords,
  statusWords,
  t,
} from "./words.js";

/** @typedef {import("./types").RoomView} RoomView */
/** @typedef {import("./page").Side} Side */

/**
 * What is shown beside the board.
 * @typedef {object} Table
 * @property {RoomView} room
 * @property {number} received When the room came from the server, in milliseconds.
 * @property {{ply: number, board: import("./types").BoardView} | null} looking At an earlier position.
 * @property {string} confirming The action that waits for a yes or a no.
 * @property {boolean} copied Has the address been copied?
 * @property {{address: string, picture: string, minutes: number} | null} handover To another device.
 * @property {{words: string, cell: string} | null} hint What the engine advises, or that it is thinking.
 * @property {import("./game/after.js").Afterwards | null} after What can be said of a game that is over.
 * @property {import("./game/goal.js").Goal | null} goal What is to be found in a position that is tried again.
 *
 * What can be done there.
 * @typedef {object} Doing
 * @property {(what: string, data?: Record<string, unknown>) => void} act Send a command.
 * @property {(what: string) => void} confirm Ask whether it is meant.
 * @property {(ply: number) => void} look
 * @property {(copied: boolean) => void} copied
 * @property {() => void} handOver
 * @property {() => void} takeBackSeat From all other devices.
 * @property {() => void} askHint
 */

/** So many milliseconds pass before we ask why the computer takes so long. */
const ENGINE_PATIENCE = 2500;
/** The events after which the board is another one. */
const CHANGES = ["moved", "takenback"];
/** After so many milliseconds without an answer we say that a move is on its way. */
const SENDING_PATIENCE = 800;

const root = emptyRoot("game");
const id = root.dataset.game ?? "";
const title = document.title;

/** @type {Omit<Table, "room"> & {room: RoomView | null}} */
const table = {
  room: null,
  received: 0,
  looking: null,
  confirming: "",
  copied: false,
  handover: null,
  hint: null,
  after: null,
  goal: null,
};
let connected = true;
let message = "";
/** What the opponent has done, unless the board shows it. */
let notice = "";
/** The move that is on its way, and whether that takes long. @type {string | null} */
let sending = null;
let isLate = false;
/** The move that waits for a second tap. @type {string | null} */
let chosen = null;
/** Does the computer wait for its engine to be compiled? */
let compiling = false;

const signals = new Signals(update);
const positions = new Latest();
const connection = new GameConnection(id, onNews, (state, error) => {
  connected = state !== "lost";
  if (state === "refused" && error) message = errorWords(error);
  update();
});

// --- What comes from the server ------------------------------------------------------------------

/** @param {import("./socket.js").News} news */
function onNews({ view, events }) {
  const before = table.room;
  const kinds = events.map((event) => event.kind);
  table.room = view;
  table.received = Date.now();
  if (kinds.length) [message, notice, table.hint] = ["", "", null];
  if (before && kinds.length) showNews(before, view, events);
  if (kinds.includes("moved") || view.board.turn !== before?.board.turn) settle();
  if (kinds.some((kind) => CHANGES.includes(kind))) lookAtPresent();
  signals.warnOfThreats(view);
  tell(view, before ? kinds : ["moved", "joined"]);
  update();
  watchEngine(view);
  if (!before) findGoal();
  table.goal?.see(view);
  if (view.status === "over" && view.moves.length) lookBack(view, Boolean(before) && kinds.includes("ended"));
}

/**
 * Show what has happened before the visitor's eyes.
 * @param {RoomView} before @param {RoomView} room @param {import("./types").EventView[]} events
 */
function showNews(before, room, events) {
  const kinds = events.map((event) => event.kind);
  if (kinds.includes("moved")) showMove(room);
  if (kinds.includes("ended")) playSound("end");
  tellOfOthers(before, room, events);
  // Players follow to the rematch as soon as it is agreed; a game that had one already may be looked at.
  if (!before.next && room.next && room.you.length) location.href = `/game/${room.next}`;
}

/** The move that was on its way has arrived, or will not. */
function settle() {
  [sending, chosen, isLate] = [null, null, false];
}

/** Go back to the present for a new move. @param {RoomView} room */
function showMove(room) {
  // One's own stone has landed already.
  if (room.board.last !== sending) {
    land(room.board.last);
    playSound("theirs");
  }
  signals.showChain(room);
}

/** Let the board show how a stone is put down. @param {string | null} cell */
function land(cell) {
  const board = boardIn(root);
  if (board) board.landed = cell;
}

/**
 * Tell what the opponent has done off the board.
 * @param {RoomView} before @param {RoomView} room @param {import("./types").EventView[]} events
 */
function tellOfOthers(before, room, events) {
  for (const { kind, what, side } of events) {
    const byOther = side && !room.you.includes(side);
    const asker = what && before.offers[what];
    if (kind === "declined" && what && byOther && asker && room.you.includes(asker)) notice = declinedWords(what);
    if (kind === "joined" && side && byOther && room.you.length) {
      notice = t("{player} has joined the game.", { player: playerWords(room, side) });
      playSound("theirs");
      notify(notice, id);
    }
  }
  if (notice) announce(notice);
}

/**
 * Look back at a game that is over, by itself if the visitor has seen its end.
 * @param {RoomView} room @param {boolean} seen
 */
async function lookBack(room, seen) {
  if (table.after) {
    table.after.room = room;
    return;
  }
  const { Afterwards } = await import("./game/after.js");
  table.after ??= new Afterwards(room, update, look);
  if (seen) {
    // A position that is tried again says nothing about the level.
    if (!table.goal) table.after.count();
    table.after.start();
  }
  update();
}

/** Was this game begun to try something again? */
async function findGoal() {
  if (!sessionStorageHas("kamon-goal")) return;
  const { Goal } = await import("./game/goal.js");
  table.goal = Goal.of(id, update);
  if (table.room) table.goal?.see(table.room);
}

/** Browsers can forbid the storage. @param {string} key */
function sessionStorageHas(key) {
  try {
    return sessionStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

/** Tell it by voice, in the title of the tab and by a notice. @param {RoomView} room @param {string[]} kinds */
function tell(room, kinds) {
  const mine = isMyTurn(room) && !room.shared;
  const signal = mine ? t("Your turn") : notice;
  document.title = (signal ? `● ${signal} – ` : "") + title;
  const words = newsWords(room, kinds, preferences.edition, compiling);
  if (!words) return;
  announce(notice ? `${notice} ${words}` : words);
  if (mine) notify(t("Your turn."), id);
}

/** Find out why the computer takes so long, if it does. @param {RoomView} room */
function watchEngine(room) {
  const isWaiting = () => {
    const turn = room.status === "playing" ? room.board.turn : null;
    return table.room?.number === room.number && turn !== null && room.seats[turn].kind === "computer";
  };
  if (!isWaiting()) {
    compiling = false;
    return;
  }
  setTimeout(async () => {
    if (!isWaiting()) return;
    const health = await ask("/api/health").catch(() => ({ compiling: false }));
    if (!isWaiting()) return;
    compiling = health.compiling;
    update();
    if (compiling) watchEngine(room);
  }, ENGINE_PATIENCE);
}

// --- What the visitor does -----------------------------------------------------------------------

/** @type {Doing} */
const doing = { act, confirm, look, copied: onCopied, handOver, takeBackSeat, askHint };

/** @param {string} what @param {Record<string, unknown>} [data] */
async function act(what, data) {
  table.confirming = "";
  [message, notice] = ["", ""];
  update();
  try {
    await connection.do(what, data);
  } catch (error) {
    if (what === "move") settle();
    showError(error);
  }
  update();
}

/** @param {any} error */
function showError(error) {
  message = errorWords(error);
  update();
}

/** @param {string} cell */
function onPlay(cell) {
  if (sending || table.looking) return;
  if (preferences.confirm && chosen !== cell) {
    chosen = cell;
    [message, notice] = ["", t("Tap it again to play there.")];
    announce(`${cell}: ${notice}`);
    update();
    return;
  }
  [sending, chosen, table.hint] = [cell, null, null];
  land(cell);
  playSound("mine");
  if (!connected) announce(waitingWords());
  setTimeout(() => {
    isLate = sending === cell;
    update();
  }, SENDING_PATIENCE);
  act("move", { cell });
}

/** @param {string} cell */
function onRefuse(cell) {
  if (!table.room || !isMyTurn(table.room) || sending) return;
  message = refusalWords(table.room.board, cell, preferences.edition);
  chosen = null;
  announce(`${cell}: ${message}`);
  update();
}

/** Ask the engine for a move; it is asked about the position that is on the board now. */
async function askHint() {
  const { room } = table;
  if (!room || table.hint) return;
  const { number, layout, moves, board } = room;
  const isCurrent = () => table.room?.number === number && !sending;
  table.hint = { words: t("One moment…"), cell: "" };
  update();
  try {
    const { adviceOn, think } = await import("./game/hint.js");
    const found = await think([layout, ...moves].join(" "), (words) => {
      if (!isCurrent()) return;
      table.hint = { words, cell: "" };
      update();
    });
    if (!isCurrent()) return;
    table.hint = (found && adviceOn(found, board, preferences.edition)) ?? {
      words: t("The computer has not found a hint yet. Try again in a moment."),
      cell: "",
    };
  } catch (error) {
    if (!isCurrent()) return;
    table.hint = null;
    showError(error);
  }
  update();
}

/**
 * Ask whether an action is meant; with "" take the question back. The focus goes where something changes.
 * @param {string} what
 */
function confirm(what) {
  const asked = table.confirming;
  table.confirming = what;
  update();
  /** @type {HTMLElement | null} */ (root.querySelector(what ? ".confirm button" : `[data-asks=${asked}]`))?.focus();
}

/** @param {number} ply */
function look(ply) {
  if (!table.room || ply < 0) return;
  message = "";
  if (ply >= table.room.moves.length) {
    lookAtPresent();
    update();
    return;
  }
  positions.show(
    ask(`/api/games/${id}/positions/${ply}`),
    (board) => {
      table.looking = { ply, board };
      update();
    },
    showError,
  );
}

function lookAtPresent() {
  positions.cancel();
  table.looking = null;
}

/** @param {boolean} copied */
function onCopied(copied) {
  table.copied = copied;
  update();
}

async function handOver() {
  if (table.handover) return;
  try {
    table.handover = await ask(`/api/games/${id}/handover`, {});
    update();
  } catch (error) {
    showError(error);
  }
}

async function takeBackSeat() {
  try {
    await remove(`/api/games/${id}/handover`);
    table.handover = null;
    announce(t("You can now play on this device only."));
  } catch (error) {
    showError(error);
  }
  update();
}

// --- What is shown -------------------------------------------------------------------------------

function update() {
  if (!table.room) {
    if (message) render(errorLine(message), root);
    return;
  }
  const shown = /** @type {Table} */ (table);
  const hadFocus = root.contains(document.activeElement);
  render(page(shown), root);
  drawBoard(shown);
  // What had the focus may be gone now.
  if (hadFocus && !root.contains(document.activeElement))
    /** @type {HTMLElement | null} */ (root.querySelector(".status"))?.focus();
}

/** @param {Table} shown */
function page(shown) {
  const { room, looking } = shown;
  // One's own side sits below, as at a table.
  const bottom = /** @type {Side} */ (room.you.length === 1 ? room.you[0] : "black");
  const { edition } = preferences;
  const proof = html`<p class="proof">${blockWords(room.board, edition)}</p>
    <p class="proof hidden">${proofWords(room.board, edition)}</p>`;
  return html`
    <section class="table" aria-label=${t("Board")}>
      ${player(shown, otherSide(bottom))}
      <kamon-board></kamon-board>
      ${player(shown, bottom)}
    </section>
    <aside class="panel">
      ${
        room.status === "over" && !looking
          ? ending(room, placeWords(shown), resultWords(room, edition))
          : html`<p class="status" tabindex="-1">${placeWords(shown)}</p>`
      }
      ${score(room, bottom)}
      ${connected ? nothing : errorLine(t("The connection is lost. Trying again…"))}
      ${sending && !connected ? html`<p class="note waits">${waitingWords()}</p>` : nothing}
      ${errorLine(message)}
      ${notice ? html`<p class="notice">${notice}</p>` : nothing}
      ${goal(shown)}
      ${need(shown)}
      ${room.board.outcome && !looking ? proof : nothing}
      ${actions(shown, doing)}
      ${room.moves.length ? moveList(shown, doing) : nothing}
      ${seldom(shown, doing)}
      ${watchers(room)}
    </aside>`;
}

/** @param {Table} shown */
function placeWords({ room, looking }) {
  if (!looking)
    return sending && (isLate || !connected)
      ? t("Your move is on its way…")
      : statusWords(room, preferences.edition, compiling);
  return looking.ply ? t("Stones placed: {n}", { n: looking.ply }) : t("Before the first move");
}

/** Who has come by an invitation is no spectator. @param {RoomView} room */
const watchers = ({ status, watchers: n }) =>
  n && status !== "waiting" ? html`<p class="small">${t("Watching: {n}", { n })}</p>` : nothing;

/** @param {Table} shown */
const goal = ({ room, goal: sought }) =>
  sought?.words && room.status === "playing" ? html`<p class="goal" role="status">${sought.words}</p>` : nothing;

const waitingWords = () => t("Your move will be sent when the connection is back.");

/** The moves that something is said of. @param {Table} shown @returns {Record<string, import("./page").MoveMark>} */
function marks({ hint, after, looking }) {
  if (looking) return after?.marksAt(looking.ply) ?? {};
  return hint?.cell ? { [hint.cell]: { kind: "win", text: "★", words: t("the hint"), best: true } } : {};
}

/** @param {Table} shown */
function drawBoard(shown) {
  const { room, looking, hint, after } = shown;
  const assists = preferences.assistant && !looking && !room.shared;
  showBoard(
    boardIn(root),
    {
      board: looking?.board ?? room.board,
      // Where a sentence names cells, the board does too.
      coordinates: preferences.coordinates || Boolean(hint?.cell || after?.isTold),
      values: marks(shown),
      ghost: looking ? null : sending,
      chosen: looking ? null : chosen,
      glow: looking ? [] : signals.glow,
      warned: looking ? [] : signals.warned,
      playable: !looking && !sending && isMyTurn(room),
      assistance: assists ? (room.assistance ?? null) : null,
    },
    { "kamon-play": onPlay, "kamon-refuse": onRefuse },
  );
}

/** The arrow keys step through the moves, except where they mean something else. @param {KeyboardEvent} event */
function onKey({ key, target, ctrlKey, metaKey, altKey, shiftKey }) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (!step || !table.room || ctrlKey || metaKey || altKey || shiftKey) return;
  if (target instanceof Element && target.closest("input, select, textarea, kamon-board, dialog")) return;
  look((table.looking?.ply ?? table.room.moves.length) + step);
}

document.addEventListener("keydown", onKey);
onPreferences(update);
// Clocks run between the server's messages; nothing else changes by itself.
setInterval(() => {
  if (table.room?.clock.running) signals.watchTime(/** @type {Table} */ (table));
  if (table.room?.clock.running || table.room?.status === "playing") update();
}, 500);
