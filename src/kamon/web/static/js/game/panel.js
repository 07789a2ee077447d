// What is shown around the board of a game: the players, what to match, what can be done, and the moves.
import { html, nothing, svg } from "../../vendor/lit-html.js";
import { tokenPicture } from "../board.js";
import { icon, playerCrest } from "../crests.js";
import { addressField, button, inputValue, moveButton, needToMatch, stepButtons, toggle } from "../parts.js";
import { prefer, preferences } from "../shell.js";
import { isMyTurn, levelName, otherSide, playerWords, scoreWords, sideWords, t, timeWords } from "../words.js";

/** @typedef {import("../types").RoomView} RoomView */
/** @typedef {import("../page").Side} Side */
/** @typedef {import("../game.js").Table} Table */
/** @typedef {import("../game.js").Doing} Doing */

/** With less time than this, in milliseconds, a clock is shown as running short. */
export const SHORT_TIME = 20_000;

// --- The players ---------------------------------------------------------------------------------

/** @param {Table} table @param {Side} side */
export function player(table, side) {
  const { room } = table;
  const turn = room.status === "playing" && room.board.turn === side;
  const away = isAway(room, side) ? html` <small>${t("away")}</small>` : nothing;
  const crown = html`<span class="crown">${t("winner")}</span>`;
  const won = room.result?.winner === side;
  const { level } = room.seats[side];
  // A level is called by its name; two players at one screen have no other names than their sides.
  const name = level ? levelName(level) : playerWords(room, side);
  const below = level ? `${sideWords(side)} · ${t("level {n}", { n: level })}` : sideWords(side);
  return html`<div class="player ${side} ${turn ? "turn" : ""} ${won ? "won" : ""}">
    <span class="avatar">${playerCrest(side, level)}</span>
    <span class="who"><strong>${name}</strong> ${room.shared ? nothing : html`<small>${below}</small>`}${away}</span>
    ${won ? crown : nothing}${clock(table, side)}</div>`;
}

/** @param {RoomView} room @param {Side} side */
const isAway = (room, side) =>
  room.status === "playing" && room.seats[side].kind === "person" && !room.shared && !room.present[side];

/**
 * How much time a side has left, in milliseconds.
 * @param {Pick<Table, "room" | "received">} table @param {Side} side
 */
export const timeLeft = ({ room, received }, side) =>
  Math.max(0, room.clock[side] - (room.clock.running === side ? Date.now() - received : 0));

/** @param {Table} table @param {Side} side */
function clock(table, side) {
  const { room } = table;
  if (room.clock.control === "-") return nothing;
  const running = room.clock.running === side;
  const left = timeLeft(table, side);
  return html`<span class="clock ${running ? "running" : ""} ${left < SHORT_TIME ? "short" : ""}" role="timer"
    aria-label=${t("{side}’s clock", { side: sideWords(side) })}>${timeWords(left)}</span>`;
}

/** How a series of games stands, between the players. @param {RoomView} room @param {Side} first */
export function score(room, first) {
  if (!room.score) return nothing;
  return html`<p class="score"><span>${playerWords(room, first)}</span>
    <strong>${scoreWords(room.score, first)}</strong>
    <span>${playerWords(room, otherSide(first))}</span></p>`;
}

// --- What to match -------------------------------------------------------------------------------

/** @param {Table} table */
export function need({ room, looking }) {
  const board = looking?.board ?? room.board;
  if (board.outcome || (room.status !== "playing" && !looking)) return nothing;
  if (board.need) return needToMatch(board.need);
  return html`<div class="need"><p>${t("Black begins on an edge space, but not on a corner.")}</p></div>`;
}

// --- What can be done ----------------------------------------------------------------------------

/** @param {Table} table @param {Doing} doing */
export function actions(table, doing) {
  const { room } = table;
  const seated = room.you.length > 0;
  if (room.can.includes("join")) return sitDown(doing);
  if (room.status === "waiting") return invitation(table, doing);
  if (room.status !== "playing") return actionsAfterwards(table, doing);
  return seated ? actionsInPlay(table, doing) : html`<p class="note">${t("You are watching.")}</p>`;
}

/** @param {Doing} doing */
function sitDown({ act }) {
  const setName = (/** @type {Event} */ event) => prefer({ name: inputValue(event).trim() });
  const join = (/** @type {Event} */ event) => {
    event.preventDefault();
    act("join", { name: preferences.name });
  };
  return html`<form class="join" @submit=${join}>
    <label>${t("Your name")} <input type="text" maxlength="40" autocomplete="nickname" .value=${preferences.name}
      @input=${setName}></label>
    <div class="row"><button class="primary">${t("Join the game")}</button></div></form>`;
}

/** @param {Table} table @param {Doing} doing */
function invitation(table, doing) {
  const shown = {
    address: `${location.origin}/game/${table.room.id}`,
    label: t("Link to the game"),
    copied: table.copied,
    kind: "",
  };
  return html`<div class="invite">${table.room.listed ? listedNote() : nothing}
    <p>${table.room.listed ? t("Or send this link to a friend:") : t("Send this link to your opponent:")}</p>
    ${addressField(shown, doing.copied)}
    ${qrCode(`/api/games/${table.room.id}/invitation.svg`)}</div>
    <div class="row">${abortButton(table, doing)}</div>`;
}

/** For a game that anybody may join; few games need this module. */
function listedNote() {
  import("../people.js");
  return html`<kamon-listed class="listed" role="status"></kamon-listed>`;
}

/** @param {string} source */
const qrCode = (source) =>
  html`<img class="qr" src=${source} alt=${t("QR code of the link")} width="180" height="180">`;

const LAMP = icon("M9 18h6M10 21h4M12 3a6 6 0 0 0-3.5 10.9c.5.4.5 1.1.5 1.6h6c0-.5 0-1.2.5-1.6A6 6 0 0 0 12 3Z");
const BACK = icon("M9 6L4 11l5 5M4 11h10a6 6 0 0 1 6 6v1");

/** @param {RoomView} room */
const isAgainstComputer = (room) => !room.shared && Object.values(room.seats).some((seat) => seat.kind === "computer");

/** What is often wanted during a game. @param {Table} table @param {Doing} doing */
function actionsInPlay(table, doing) {
  const { room } = table;
  const assisted = isAgainstComputer(room);
  const takeBack = () => doing.act("offer", { what: "takeback" });
  return html`${offers(room, doing)}<div class="tools">
    ${assisted ? hintButton(table, doing) : nothing}
    ${room.can.includes("takeback") ? button(html`${BACK}${t("Take back")}`, takeBack, "") : nothing}
    ${mayClaim(table) ? button(t("Claim the win: your opponent has left"), () => doing.act("claim"), "") : nothing}
    ${assisted ? toggle(t("Show dangers"), preferences.assistant, (assistant) => prefer({ assistant })) : nothing}
    </div>${table.hint ? html`<p class="hint" role="status">${table.hint.words}</p>` : nothing}`;
}

/** What is seldom wanted stands last. @param {Table} table @param {Doing} doing */
export function seldom(table, doing) {
  const { room } = table;
  if (room.status !== "playing" || !room.you.length) return nothing;
  const may = (/** @type {RoomView["can"][number]} */ what) => room.can.includes(what);
  return html`<div class="seldom">${legend(isAgainstComputer(room))}${room.shared ? nothing : otherDevice(table, doing)}
    <div class="row">${may("draw") && !room.offers.draw ? drawButton(table, doing) : nothing}
    ${may("abort") && room.moves.length < 2 ? abortButton(table, doing) : resignButton(table, doing)}</div></div>`;
}

/** @param {Table} table @param {Doing} doing */
const hintButton = ({ room, hint, looking }, { askHint }) =>
  html`<button type="button" ?disabled=${!isMyTurn(room) || Boolean(hint) || Boolean(looking)}
    @click=${askHint}>${LAMP}${t("Hint")}</button>`;

/** What the marks on the board mean. @param {boolean} assisted */
function legend(assisted) {
  const hexagon = "0,-44 38,-22 38,22 0,44 -38,22 -38,-22";
  const last = svg`<polygon class="mark-last under" points=${hexagon}/><polygon class="mark-last" points=${hexagon}/>`;
  const threat = svg`<path class="mark-threat" transform="translate(0 74) scale(2)" d="M-9,-44L0,-30L9,-44Z"/>`;
  const losing = svg`<path class="mark-losing" transform="scale(2)" d="M-12,-12L12,12M12,-12L-12,12"/>`;
  return html`<details class="legend"><summary>${t("What do the marks mean?")}</summary><ul class="plain">
    ${legendLine(svg`<polygon class="mark-legal" points=${hexagon}/>`, t("You may play here."))}
    ${legendLine(svg`<circle class="mark-reply" r="40"/>`, replyWords())}
    ${legendLine(last, t("The last move."))}
    ${assisted ? legendLine(threat, t("Your opponent could win here with the next stone.")) : nothing}
    ${assisted ? legendLine(losing, t("If you play here, your opponent can win with the next stone.")) : nothing}
    </ul>${assisted ? html`<p class="small">${assistantWords()}</p>` : nothing}</details>`;
}

/** @param {unknown} mark @param {string} words */
const legendLine = (mark, words) =>
  html`<li><svg viewBox="-52 -52 104 104" aria-hidden="true">${mark}</svg> <span>${words}</span></li>`;

const replyWords = () =>
  t("Your opponent may play here after the move you point at. On a touchscreen, hold your finger on a token.");

const assistantWords = () =>
  t("Dangers are found by looking one move ahead: where your opponent could win, and which moves would allow it.");

/** Has the opponent been away for so long by now that the win may be claimed? @param {Table} table */
const mayClaim = ({ room, received }) => room.claim !== null && Date.now() - received >= room.claim;

/** @param {Table} table @param {Doing} doing */
const abortButton = (table, doing) =>
  confirmed(table, doing, { what: "abort", label: t("Cancel the game"), sure: t("Yes, cancel it") }, () =>
    doing.act("abort"),
  );

/** @param {Table} table @param {Doing} doing */
const resignButton = (table, doing) =>
  confirmed(table, doing, { what: "resign", label: t("Resign"), sure: t("Yes, resign") }, () => doing.act("resign"));

/** @param {Table} table @param {Doing} doing */
const drawButton = (table, doing) =>
  confirmed(table, doing, { what: "draw", label: t("Offer a draw"), sure: t("Yes, offer it") }, () =>
    doing.act("offer", { what: "draw" }),
  );

/**
 * A button that asks once more before it acts.
 * @param {Table} table @param {Doing} doing
 * @param {{what: string, label: string, sure: string}} question @param {() => void} action
 */
function confirmed(table, doing, { what, label, sure }, action) {
  if (table.confirming !== what)
    return html`<button type="button" class="quiet" data-asks=${what}
      @click=${() => doing.confirm(what)}>${label}</button>`;
  const takeBack = () => doing.confirm("");
  return html`<span class="confirm">${button(sure, action, "danger")}${button(t("No"), takeBack)}</span>`;
}

/** Six tokens, one of each symbol and suit. */
const SIX = ["A1", "B2", "C3", "D4", "E5", "F6"];

/**
 * How the game has ended: a sheet of gold leaf for who has won, and quiet words for everybody else.
 * @param {RoomView} room @param {string} headline @param {string} how
 */
export function ending(room, headline, how) {
  const winner = room.result?.winner;
  const won = Boolean(winner && room.you.includes(winner));
  const face = winner ? html`<span class="avatar">${playerCrest(winner, room.seats[winner].level)}</span>` : nothing;
  const six = SIX.map((token) => tokenPicture(token, preferences.edition));
  return html`<div class="ending ${won ? "won" : ""}">${face}<div><p class="status over" tabindex="-1">${headline}</p>
    ${how === headline ? nothing : html`<p class="how">${how}</p>`}</div>
    ${won ? html`<span class="six" aria-hidden="true">${six}</span>` : nothing}</div>`;
}

/** @param {Table} table @param {Doing} doing */
function actionsAfterwards(table, doing) {
  const { room, after } = table;
  const isLost = Boolean(after?.isLost);
  const mayOffer = room.can.includes("rematch") && !room.offers.rematch;
  const again = mayOffer ? rematchButtons(room, doing, after?.isToTryAgain ? "" : "primary") : nothing;
  const next = room.next
    ? html`<a class="button primary" href="/game/${room.next}">${t("To the next game")}</a>`
    : again;
  const review = html`<a class="button" href="/study?game=${room.id}&review">${t("Review this game")}</a>`;
  const buttons = html`${offers(room, doing)}<div class="row afterwards">${next}
    ${room.moves.length ? review : nothing}
    ${room.day ? html`<a class="button" href="/day?date=${room.day}">${t("Board of the day")}</a>` : nothing}
    <a class="button quiet" href="/">${t("New game")}</a></div>`;
  const decided = after?.panel() ?? nothing;
  // A lost game asks why; after any other one wants the next.
  return html`${isLost ? decided : buttons}${isLost ? buttons : decided}
    ${room.moves.length ? share(table, doing) : nothing}`;
}

/** @param {Table} table @param {Doing} doing */
function share({ room, copied }, doing) {
  const shown = { address: `${location.origin}/game/${room.id}`, label: t("Link to the game"), copied, kind: "" };
  const query = new URLSearchParams({ line: [room.layout, ...room.moves].join(" "), edition: preferences.edition });
  const file = (/** @type {string} */ name, /** @type {string} */ label) =>
    html`<a class="button" href="/api/${name}?${query}" download="kamon-${room.id}-${name}">${label}</a>`;
  return html`<details class="share"><summary>${t("Share")}</summary>${addressField(shown, doing.copied)}
    <p class="row">${file("picture.png", t("Picture"))}${file("film.gif", t("Animation (GIF)"))}
      <a class="button" href="/api/games/${room.id}/record" download>${t("Save as PGN")}</a></p></details>`;
}

/** @param {RoomView} room @param {Doing} doing @param {string} kind */
function rematchButtons(room, { act }, kind) {
  const offer = (/** @type {string} */ board) => () => act("offer", { what: "rematch", board });
  const label = room.shared || isAgainstComputer(room) ? t("Play again") : t("Rematch");
  return html`${button(label, offer("new"), kind)}${button(t("Same board, other side"), offer("same"), "")}`;
}

/** @param {RoomView} room @param {Doing} doing */
function offers(room, { act }) {
  /** What the opponent offers, and what one offers oneself. @type {Record<string, [string, string]>} */
  const texts = {
    draw: [t("Your opponent offers a draw."), t("You have offered a draw.")],
    takeback: [t("Your opponent would like to take a move back."), t("You have asked to take a move back.")],
    rematch: [t("Your opponent would like a rematch."), t("You have offered a rematch.")],
  };
  return Object.entries(room.offers).map(([what, side]) => {
    const accept = () => act("accept", { what });
    const decline = () => act("decline", { what });
    const [theirs, mine] = texts[what];
    if (room.you.includes(side)) return html`<p class="note">${mine} ${button(t("Withdraw"), decline)}</p>`;
    return html`<div class="offer" role="alert"><p>${theirs}</p>
      <div class="row">${button(t("Accept"), accept, "primary")}${button(t("Decline"), decline, "")}</div></div>`;
  });
}

/** @param {Table} table @param {Doing} doing */
function otherDevice({ handover }, doing) {
  const summary = html`<summary>${t("Continue on another device")}</summary>`;
  if (!handover) {
    const onToggle = (/** @type {Event} */ event) =>
      /** @type {HTMLDetailsElement} */ (event.target).open && doing.handOver();
    return html`<details class="device" @toggle=${onToggle}>${summary}</details>`;
  }
  return html`<details class="device" open>${summary}
    <p>${handoverWords(handover.minutes)}</p>
    <p><input type="text" readonly .value=${handover.address} aria-label=${t("Link for the other device")}></p>
    ${qrCode(`data:image/svg+xml,${encodeURIComponent(handover.picture)}`)}
    <div class="row">${button(t("Stop playing on other devices"), doing.takeBackSeat)}</div></details>`;
}

/** @param {number} n */
const handoverWords = (n) =>
  t("Open this link on the other device. It works once and expires after {n} minutes.", { n });

// --- The moves -----------------------------------------------------------------------------------

/** @param {Table} table @param {Doing} doing */
export function moveList({ room, looking }, { look }) {
  const end = room.moves.length;
  const ply = looking?.ply ?? end;
  const steps = {
    first: ply ? () => look(0) : null,
    back: ply ? () => look(ply - 1) : null,
    forward: looking ? () => look(ply + 1) : null,
    last: looking ? () => look(end) : null,
  };
  const move = (/** @type {number} */ at) =>
    at < end ? moveButton(room.moves[at], at + 1 === ply, () => look(at + 1)) : nothing;
  return html`<div class="moves"><div class="row">${stepButtons(steps, t("Now"))}</div>
    <ol class="ledger">${Array.from(
      { length: Math.ceil(end / 2) },
      (_, turn) => html`<li>${move(2 * turn)}${move(2 * turn + 1)}</li>`,
    )}</ol></div>`;
}
