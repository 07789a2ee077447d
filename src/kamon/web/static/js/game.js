// The page of one game: what it knows, what comes from the server, and what the visitor does.
import { html, nothing, render } from "../vendor/lit-html.js";
import { actions, moveList, need, player } from "./game/panel.js";
import { boardIn, errorLine, playSound, showBoard } from "./parts.js";
import { ask, GameConnection, Latest, remove } from "./server.js";
import { announce, emptyRoot, onPreferences, preferences } from "./shell.js";
import { errorWords, isMyTurn, newsWords, otherSide, proofWords, refusalWords, statusWords, t } from "./words.js";

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
 *
 * What can be done there.
 * @typedef {object} Doing
 * @property {(what: string, data?: Record<string, unknown>) => void} act Send a command.
 * @property {(what: string) => void} confirm Ask whether it is meant.
 * @property {(ply: number) => void} look
 * @property {(copied: boolean) => void} copied
 * @property {() => void} handOver
 * @property {() => void} takeBackSeat From all other devices.
 */

/** So many milliseconds pass before we ask why the computer takes so long. */
const ENGINE_PATIENCE = 2500;

const root = emptyRoot("game");
const id = root.dataset.game ?? "";
const title = document.title;

/** @type {Omit<Table, "room"> & {room: RoomView | null}} */
const table = { room: null, received: 0, looking: null, confirming: "", copied: false, handover: null };
let connected = true;
let message = "";
/** The move that is on its way. @type {string | null} */
let sending = null;
/** Does the computer wait for its engine to be compiled? */
let compiling = false;

const positions = new Latest();
const connection = new GameConnection(id, onNews, (state, error) => {
  connected = state !== "lost";
  if (state === "refused" && error) message = errorWords(error);
  update();
});

// --- What comes from the server ------------------------------------------------------------------

/** @param {import("./server.js").News} news */
function onNews({ view, events }) {
  const before = table.room;
  const kinds = events.map((event) => event.kind);
  table.room = view;
  table.received = Date.now();
  if (before && kinds.includes("moved")) showMove(view);
  if (before && kinds.includes("ended")) playSound("end");
  if (kinds.includes("moved") || view.board.turn !== before?.board.turn) sending = null;
  if (kinds.length) message = "";
  // Players follow to the rematch as soon as it is agreed; a game that had one already may be looked at.
  if (before && !before.next && view.next && view.you.length) location.href = `/game/${view.next}`;
  tell(view, before ? kinds : ["moved", "joined"]);
  update();
  watchEngine(view);
}

/** Go back to the present for a new move. @param {RoomView} room */
function showMove(room) {
  lookAtPresent();
  const board = boardIn(root);
  if (board) board.landed = room.board.last;
  playSound("stone");
}

/** Tell it by voice, in the title of the tab and by a notice. @param {RoomView} room @param {string[]} kinds */
function tell(room, kinds) {
  const mine = isMyTurn(room) && !room.shared;
  document.title = (mine ? `● ${t("Your turn")} – ` : "") + title;
  const words = newsWords(room, kinds, preferences.edition, compiling);
  if (!words) return;
  announce(words);
  if (mine) notify();
}

/** Show a notice outside the page, where the visitor wants it and is not looking. */
function notify() {
  if (!preferences.notices || !document.hidden) return;
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  try {
    // biome-ignore lint/correctness/noUnusedInstantiation: the browser shows it, and nothing else is done with it.
    new Notification("Kamon", { body: t("Your turn."), tag: id, icon: "/static/icon-192.png" });
  } catch {
    // Browsers on phones have the class but throw. The title of the tab tells it too.
  }
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
const doing = { act, confirm, look, copied: onCopied, handOver, takeBackSeat };

/** @param {string} what @param {Record<string, unknown>} [data] */
async function act(what, data) {
  table.confirming = "";
  message = "";
  update();
  try {
    await connection.do(what, data);
  } catch (error) {
    sending = null;
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
  sending = cell;
  act("move", { cell });
}

/** @param {string} cell */
function onRefuse(cell) {
  if (!table.room || !isMyTurn(table.room) || sending) return;
  message = refusalWords(table.room.board, cell, preferences.edition);
  announce(message);
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
  if (!table.room) return;
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
  render(page(shown), root);
  drawBoard(shown);
}

/** @param {Table} shown */
function page(shown) {
  const { room, looking } = shown;
  // One's own side sits below, as at a table.
  const bottom = /** @type {Side} */ (room.you.length === 1 ? room.you[0] : "black");
  const proof = html`<p class="proof">${proofWords(room.board, preferences.edition)}</p>`;
  return html`
    <section class="table" aria-label=${t("Board")}>
      ${player(shown, otherSide(bottom))}
      <kamon-board></kamon-board>
      ${player(shown, bottom)}
    </section>
    <aside class="panel">
      <p class="status ${room.status}" >${placeWords(shown)}</p>
      ${connected ? nothing : errorLine(t("The connection is lost. Trying again…"))}
      ${errorLine(message)}
      ${need(shown)}
      ${room.board.outcome && !looking ? proof : nothing}
      ${actions(shown, doing)}
      ${room.moves.length ? moveList(shown, doing) : nothing}
      ${room.watchers ? html`<p class="small">${t("Watching: {n}", { n: room.watchers })}</p>` : nothing}
    </aside>`;
}

/** @param {Table} shown */
function placeWords({ room, looking }) {
  if (!looking) return statusWords(room, compiling);
  return looking.ply ? t("Stones placed: {n}", { n: looking.ply }) : t("Before the first move");
}

/** @param {Table} shown */
function drawBoard({ room, looking }) {
  const assists = preferences.assistant && !looking && !room.shared;
  showBoard(
    boardIn(root),
    {
      board: looking?.board ?? room.board,
      coordinates: preferences.coordinates,
      playable: !looking && !sending && isMyTurn(room),
      assistance: assists ? (room.assistance ?? null) : null,
    },
    { "kamon-play": onPlay, "kamon-refuse": onRefuse },
  );
}

onPreferences(update);
// Clocks run between the server's messages; nothing else changes by itself.
setInterval(() => {
  if (table.room?.clock.running || table.room?.status === "playing") update();
}, 500);
