// One game: the board, the two players, what must be matched, what can be done.
import { html, nothing, render } from "../vendor/lit-html.js";
import { CELL_NAMES, tokenPicture } from "./board.js";
import { ask, copyText, errorWords, onPreferences, prefer, preferences, timeWords } from "./shell.js";
import { Connection } from "./socket.js";
import { play as playSound } from "./sound.js";
import { levelName, needWords, t, tokenWords } from "./words.js";

/** @typedef {import("./types").RoomView} RoomView */
/** @typedef {import("./types").Side} Side */
/** @typedef {import("./board.js").KamonBoard} KamonBoard */

const root = /** @type {HTMLElement} */ (document.getElementById("game"));
root.replaceChildren();
const live = /** @type {HTMLElement} */ (document.getElementById("live"));
const id = root.dataset.game ?? "";
const title = document.title;

/** @type {RoomView | null} */
let view = null;
let received = 0;
let connected = true;
let message = "";
/** The move that is on its way. @type {string | null} */
let sending = null;
/** @type {{ply: number, board: import("./types").Board} | null} */
let looking = null;
/** @type {{address: string, picture: string, minutes: number} | null} */
let carry = null;
let confirming = "";
let copied = false;
/** Does the computer wait for its engine to be compiled? */
let compiling = false;

const connection = new Connection(id, onNews, (state, error) => {
  connected = state !== "lost";
  if (state === "refused" && error) message = errorWords(error);
  update();
});

/** @param {import("./socket.js").News} news */
function onNews(news) {
  const before = view;
  view = news.view;
  received = Date.now();
  const moved = news.events.filter((event) => event.kind === "moved");
  if (before && moved.length) {
    looking = null;
    const board = element();
    if (board) board.landed = view.board.last;
    if (preferences.sound) playSound("stone");
  }
  if (before && news.events.some((event) => event.kind === "ended") && preferences.sound) playSound("end");
  if (sending && (moved.length || view.board.turn !== before?.board.turn)) sending = null;
  if (news.events.length) message = "";
  // Whoever sees the rematch agreed goes there; whoever looks at an old game may stay.
  if (before && !before.next && view.next && view.you.length) location.href = `/game/${view.next}`;
  announce(before ? news.events.map((event) => event.kind) : ["moved", "joined"]);
  update();
  watchEngine();
}

/** Find out why the computer takes so long, where it does. */
function watchEngine() {
  const number = view?.number;
  const waits = () => view?.status === "playing" && view.number === number && !!view.board.turn && view.seats[view.board.turn].kind === "computer";
  if (!waits()) { compiling = false; return; }
  setTimeout(async () => {
    if (!waits()) return;
    compiling = await ask("/api/health").then((health) => health.compiling, () => false);
    update();
    if (compiling) watchEngine();
  }, 2500);
}

/** @param {Side} side */
const sideWords = (side) => (side === "black" ? t("Black") : t("White"));

/** @param {RoomView} room @param {Side} side */
function playerWords(room, side) {
  const seat = room.seats[side];
  if (seat.kind === "computer") return t("Computer, level {n} ({name})", { n: seat.level, name: levelName(seat.level) });
  if (seat.kind === "open") return t("waiting for an opponent");
  if (room.shared) return sideWords(side);
  return seat.name || (room.you.includes(side) ? t("You") : t("Somebody"));
}

const myTurn = () => !!view && view.status === "playing" && !!view.board.turn && view.you.includes(view.board.turn);

/** @param {RoomView} room */
function endWords(room) {
  if (room.status === "aborted") return t("The game was aborted.");
  if (!room.result) return "";
  const { winner, by } = room.result;
  if (!winner) return by === "agreement" ? t("A draw by agreement.") : t("A draw: every token is covered and nobody has won.");
  const who = sideWords(winner), other = sideWords(winner === "black" ? "white" : "black");
  /** @type {Record<string, string>} */
  const how = {
    connection: t("{winner} wins by linking two opposite sides.", { winner: who }),
    loop: t("{winner} wins by closing a loop.", { winner: who }),
    "connection+loop": t("{winner} wins by a link and a loop at once.", { winner: who }),
    block: t("{winner} wins: {loser} has nothing to play.", { winner: who, loser: other }),
    resignation: t("{winner} wins: {loser} has resigned.", { winner: who, loser: other }),
    time: t("{winner} wins: {loser} has run out of time.", { winner: who, loser: other }),
  };
  return how[by] ?? by;
}

/** @param {RoomView} room */
function proofWords(room) {
  const outcome = room.board.outcome;
  if (!outcome) return "";
  const parts = outcome.links.map((link) => t("Link: {cells}.", { cells: link.chain.join(" ") }));
  if (outcome.ring.length) parts.push(t("Ring: {cells}. It holds {inside}.", { cells: outcome.ring.join(" "), inside: outcome.enclosed.join(" ") }));
  if (outcome.needed) parts.push(t("No free token matches: {need}.", { need: needWords(outcome.needed.symbol + outcome.needed.suit, preferences.edition) }));
  return parts.join(" ");
}

/** @param {RoomView} room */
function statusWords(room) {
  if (room.status === "waiting") return room.you.length ? t("Waiting for an opponent.") : t("This game waits for an opponent.");
  if (room.status !== "playing") return endWords(room);
  const turn = room.board.turn ?? "black";
  if (room.shared) return turn === "black" ? t("Black to play.") : t("White to play.");
  if (room.you.includes(turn)) return t("Your turn.");
  if (room.seats[turn].kind === "computer") return compiling ? t("The engine is being prepared, once on this server. It takes about 15 seconds …") : t("The computer is thinking …");
  return t("{player} to play.", { player: sideWords(turn) });
}

/** What changes the game is told aloud; an offer is an alert of its own. */
const TOLD = ["moved", "takenback", "joined", "ended", "aborted"];

/** @param {string[]} events */
function announce(events) {
  if (!view) return;
  const mine = myTurn();
  document.title = (mine && !view.shared ? `● ${t("Your turn")} – ` : "") + title;
  if (!events.some((kind) => TOLD.includes(kind))) return;
  const last = view.board.last, mover = view.moves.length % 2 ? "black" : "white";
  const parts = [];
  if (events.includes("takenback")) parts.push(t("Moves were taken back."));
  if (last && events.includes("moved")) {
    const token = tokenWords(view.board.need ?? "--", preferences.edition);
    parts.push(t("{player} has played {cell}: {token}.", { player: sideWords(mover), cell: last, token }));
  }
  if (view.status === "playing") {
    parts.push(statusWords(view));
    if (mine) parts.push(view.board.need ? t("To match: {need}.", { need: needWords(view.board.need, preferences.edition) }) : t("Begin on the border, not on a corner."), t("You may play: {cells}.", { cells: view.board.legal.join(" ") }));
  } else parts.push(statusWords(view), proofWords(view));
  live.textContent = parts.join(" ");
  if (mine && !view.shared && preferences.notices && document.hidden && "Notification" in window && Notification.permission === "granted") {
    // Some browsers have the word but refuse the thing.
    try { new Notification("Kamon", { body: t("Your turn."), tag: id, icon: "/static/icon-192.png" }); } catch { /* The title of the tab tells it too. */ }
  }
}

const element = () => /** @type {KamonBoard | null} */ (root.querySelector("kamon-board"));

/** @param {string} what @param {Record<string, unknown>} [data] */
async function act(what, data) {
  confirming = "";
  message = "";
  update();
  try {
    await connection.do(what, data);
  } catch (error) {
    sending = null;
    message = errorWords(/** @type {any} */ (error));
  }
  update();
}

/** @param {CustomEvent<{cell: string}>} event */
function onPlay(event) {
  if (sending || looking) return;
  sending = event.detail.cell;
  act("move", { cell: event.detail.cell });
}

/** @param {CustomEvent<{cell: string}>} event */
function onRefuse(event) {
  if (!view || !myTurn() || sending) return;
  const { cell } = event.detail;
  const index = CELL_NAMES.indexOf(cell);
  if (view.board.stones[index] !== ".") message = t("{cell} is taken.", { cell });
  else if (view.board.tokens[index] === "--") message = t("Nobody may play on the neutral cell.");
  else if (!view.board.need) message = t("Begin on the border, not on a corner.");
  else message = t("{cell} cannot be played. You need {need}.", { cell, need: needWords(view.board.need, preferences.edition) });
  live.textContent = message;
  update();
}

/** @param {number} ply */
async function look(ply) {
  if (!view) return;
  const last = view.moves.length;
  if (ply >= last) looking = null;
  else looking = { ply: Math.max(0, ply), board: await ask(`/api/games/${id}/positions/${Math.max(0, ply)}`) };
  update();
}

/** @param {string} label @param {() => void} action @param {string} [kind] */
const button = (label, action, kind = "") => html`<button type="button" class=${kind} @click=${action}>${label}</button>`;

/** @param {string} what @param {string} label @param {string} sure @param {() => void} action */
const confirmed = (what, label, sure, action) =>
  confirming === what
    ? html`<span class="confirm">${button(sure, action, "danger")}${button(t("No"), () => { confirming = ""; update(); focus(`[data-asks=${what}]`); }, "quiet")}</span>`
    : html`<button type="button" class="quiet" data-asks=${what} @click=${() => { confirming = what; update(); focus(".confirm button"); }}>${label}</button>`;

/** Whoever uses the keyboard goes on where something has just changed. @param {string} selector */
const focus = (selector) => /** @type {HTMLElement | null} */ (root.querySelector(selector))?.focus();

/** @param {RoomView} room */
function actions(room) {
  const mine = room.you.length > 0;
  if (room.status === "waiting")
    return mine ? html`${invitation(room)}<div class="row">${confirmed("abort", t("Abort the game"), t("Yes, abort"), () => act("abort"))}</div>`
      : html`<div class="row">${button(t("Sit down and play"), () => act("join", { name: preferences.name }), "primary")}</div>`;
  if (!mine) return html`<p class="note">${t("You are watching.")}</p>`;
  const against = room.shared || Object.values(room.seats).some((seat) => seat.kind === "computer");
  if (room.status === "playing") {
    const me = room.you[0], other = me === "black" ? "white" : "black";
    const away = room.absent[other];
    return html`${offers(room)}<div class="row">
      ${room.takeback ? button(t("Take back"), () => act("offer", { what: "takeback" }), "quiet") : nothing}
      ${room.moves.length < 2 ? confirmed("abort", t("Abort the game"), t("Yes, abort"), () => act("abort")) : confirmed("resign", t("Resign"), t("Yes, resign"), () => act("resign"))}
      ${(against && !room.shared) || room.offers.draw ? nothing : confirmed("draw", t("Offer a draw"), t("Yes, offer it"), () => act("offer", { what: "draw" }))}
      ${!against && away !== null && room.clock.control.includes("+") && away + Date.now() - received > 120_000 ? button(t("Claim the win: your opponent has left"), () => act("claim")) : nothing}
      ${against && !room.shared ? html`<label class="check"><input type="checkbox" .checked=${preferences.assistant} @change=${(/** @type {Event} */ event) => prefer({ assistant: /** @type {HTMLInputElement} */ (event.target).checked })}> ${t("Assistant")}</label>` : nothing}
      </div>${room.shared ? nothing : device()}`;
  }
  return html`${offers(room)}<div class="row">${room.next ? html`<a class="button primary" href="/game/${room.next}">${t("To the next game")}</a>`
    : html`${button(t("Rematch"), () => act("offer", { what: "rematch", board: "new" }), "primary")}${button(t("Rematch on this board"), () => act("offer", { what: "rematch", board: "same" }))}`}
    ${room.moves.length ? html`<a class="button" href="/study?game=${room.id}&review">${t("Review this game")}</a>` : nothing}
    <a class="button quiet" href="/">${t("New game")}</a></div>`;
}

/** @param {RoomView} room */
function offers(room) {
  /** @type {Record<string, [string, string]>} */
  const texts = {
    draw: [t("Your opponent offers a draw."), t("You have offered a draw.")],
    takeback: [t("Your opponent would like to take a move back."), t("You have asked to take a move back.")],
    rematch: [t("Your opponent would like a rematch."), t("You have offered a rematch.")],
  };
  return Object.entries(room.offers).map(([what, side]) => room.you.includes(side)
    ? html`<p class="note">${texts[what][1]} ${button(t("Withdraw"), () => act("decline", { what }), "quiet")}</p>`
    : html`<div class="offer" role="alert"><p>${texts[what][0]}</p><div class="row">${button(t("Accept"), () => act("accept", { what }), "primary")}${button(t("Decline"), () => act("decline", { what }))}</div></div>`);
}

/** @param {RoomView} room */
function invitation(room) {
  const address = `${location.origin}/game/${room.id}`;
  return html`<div class="invite"><p>${t("Send this address to your opponent:")}</p>
    <p class="row"><input type="text" readonly .value=${address} aria-label=${t("Address of the game")} @focus=${(/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).select()}>
    ${button(copied ? t("Copied.") : t("Copy"), async () => { copied = await copyText(address, root.querySelector(".invite input")); live.textContent = copied ? t("Copied.") : ""; update(); })}</p>
    <img class="qr" src="/api/games/${room.id}/invitation.svg" alt=${t("QR code of the address")} width="180" height="180"></div>`;
}

function device() {
  if (!carry) return html`<details class="device" @toggle=${async (/** @type {Event} */ event) => {
    if (!(/** @type {HTMLDetailsElement} */ (event.target).open) || carry) return;
    try { carry = await ask(`/api/games/${id}/handover`, {}); } catch (error) { message = errorWords(/** @type {any} */ (error)); }
    update();
  }}><summary>${t("Play on with another device")}</summary></details>`;
  return html`<details class="device" open><summary>${t("Play on with another device")}</summary>
    <p>${t("Open this address there. It works once, for {n} minutes.", { n: carry.minutes })}</p>
    <p><input type="text" readonly .value=${carry.address} aria-label=${t("Address for the other device")}></p>
    <img class="qr" src="data:image/svg+xml,${encodeURIComponent(carry.picture)}" alt=${t("QR code of the address")} width="180" height="180"></details>`;
}

/** @param {RoomView} room @param {Side} side */
function clock(room, side) {
  if (room.clock.control === "-") return nothing;
  const running = room.clock.running === side;
  const left = Math.max(0, room.clock[side] - (running ? Date.now() - received : 0));
  return html`<span class="clock ${running ? "running" : ""} ${left < 20_000 ? "short" : ""}" role="timer" aria-label=${t("Time of {side}", { side: sideWords(side) })}>${timeWords(left)}</span>`;
}

/** @param {RoomView} room @param {Side} side */
function player(room, side) {
  const turn = room.status === "playing" && room.board.turn === side;
  return html`<div class="player ${side} ${turn ? "turn" : ""}"><span class="chip ${side}" aria-hidden="true"></span>
    <span class="who">${playerWords(room, side)}${room.seats[side].kind === "person" && !room.shared && !room.present[side] && room.status === "playing" ? html` <small>${t("away")}</small>` : nothing}</span>
    ${room.result?.winner === side ? html`<span class="crown">${t("winner")}</span>` : nothing}${clock(room, side)}</div>`;
}

/** @param {RoomView} room @param {import("./types").Board} board */
function need(room, board) {
  if (board.outcome || (room.status !== "playing" && !looking)) return nothing;
  if (!board.need) return html`<div class="need"><p>${t("Black begins on the border, not on a corner.")}</p></div>`;
  return html`<div class="need"><div class="need-token">${tokenPicture(board.need, preferences.edition)}</div>
    <p><span class="small">${t("To match")}</span><br><strong>${needWords(board.need, preferences.edition)}</strong></p></div>`;
}

/** @param {RoomView} room */
function moveList(room) {
  const ply = looking ? looking.ply : room.moves.length;
  return html`<div class="moves"><div class="row">
      <button type="button" class="quiet step" aria-label=${t("First position")} ?disabled=${ply === 0} @click=${() => look(0)}>«</button>
      <button type="button" class="quiet step" aria-label=${t("One move back")} ?disabled=${ply === 0} @click=${() => look(ply - 1)}>‹</button>
      <button type="button" class="quiet step" aria-label=${t("One move forward")} ?disabled=${!looking} @click=${() => look(ply + 1)}>›</button>
      <button type="button" class="quiet step" aria-label=${t("Now")} ?disabled=${!looking} @click=${() => look(99)}>»</button>
      <a class="small" href="/api/games/${room.id}/record" download>${t("Save as PGN")}</a></div>
    <ol class="ledger">${Array.from({ length: Math.ceil(room.moves.length / 2) }, (_, i) => html`<li>${[2 * i, 2 * i + 1].map((at) => room.moves[at]
      ? html`<button type="button" class="move ${at + 1 === ply ? "here" : ""}" aria-current=${at + 1 === ply ? "true" : nothing} @click=${() => look(at + 1)}>${room.moves[at]}</button>` : nothing)}</li>`)}</ol></div>`;
}

function update() {
  if (!view) {
    if (message) render(html`<p class="error" role="alert">${message}</p>`, root);
    return;
  }
  const room = view;
  const board = looking?.board ?? room.board;
  // One's own side sits below, as at a table.
  const bottom = /** @type {Side} */ (room.you.length === 1 ? room.you[0] : "black");
  const top = bottom === "black" ? "white" : "black";
  render(html`
    <section class="table" aria-label=${t("Board")}>
      ${player(room, top)}
      <kamon-board></kamon-board>
      ${player(room, bottom)}
    </section>
    <aside class="panel">
      <p class="status ${room.status}" >${looking ? looking.ply ? t("After {n} placements", { n: looking.ply }) : t("Before the first move") : statusWords(room)}</p>
      ${connected ? nothing : html`<p class="error" role="alert">${t("The connection is lost. Trying again …")}</p>`}
      ${message ? html`<p class="error" role="alert">${message}</p>` : nothing}
      ${need(room, board)}
      ${room.board.outcome && !looking ? html`<p class="proof">${proofWords(room)}</p>` : nothing}
      ${actions(room)}
      ${room.moves.length ? moveList(room) : nothing}
      ${room.watchers ? html`<p class="small">${t("Watching: {n}", { n: room.watchers })}</p>` : nothing}
    </aside>`, root);
  const shown = element();
  if (!shown) return;
  if (!shown.dataset.ready) {
    shown.dataset.ready = "yes";
    shown.addEventListener("kamon-play", (event) => onPlay(/** @type {CustomEvent<{cell: string}>} */ (event)));
    shown.addEventListener("kamon-refuse", (event) => onRefuse(/** @type {CustomEvent<{cell: string}>} */ (event)));
  }
  shown.board = board;
  shown.edition = preferences.edition;
  shown.coordinates = preferences.coordinates;
  shown.playable = !looking && !sending && myTurn();
  shown.assistance = preferences.assistant && !looking && !room.shared ? room.assistance ?? null : null;
  shown.label = t("Board");
  shown.update();
}

onPreferences(update);
// Clocks run between the server's messages; nothing else changes by itself.
setInterval(() => { if (view && (view.clock.running || view.status === "playing")) update(); }, 500);
