// What draws the visitor's attention: marks on the board for a moment, sounds, and notices outside the page.
import { playSound } from "../parts.js";
import { announce, preferences } from "../shell.js";
import { isMyTurn, t } from "../words.js";
import { SHORT_TIME, timeLeft } from "./panel.js";

/** @typedef {import("../types").RoomView} RoomView */

/** For so many milliseconds the board points out what is new. */
const GLOW = 1600;
const WARNING = 3000;

export class Signals {
  /** A chain that has just grown. @type {string[]} */
  glow = [];
  /** Threats that are new. @type {string[]} */
  warned = [];
  /** The threats at one's last turn. @type {string[]} */
  #threats = [];
  #isTimeTold = false;

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
  }

  /** Let the chain of the last stone glow, if it has joined others. @param {RoomView} room */
  showChain({ board }) {
    if (board.chain.length > 1) this.#pointOut("glow", board.chain, GLOW);
  }

  /** Point out new threats, where the server tells of them. @param {RoomView} room */
  warnOfThreats(room) {
    if (!room.assistance || room.shared || !isMyTurn(room)) return;
    const fresh = room.assistance.threats.filter((cell) => !this.#threats.includes(cell));
    this.#threats = room.assistance.threats;
    if (fresh.length && room.moves.length) this.#pointOut("warned", fresh, WARNING);
  }

  /** @param {"glow" | "warned"} how @param {string[]} cells @param {number} time */
  #pointOut(how, cells, time) {
    this[how] = cells;
    setTimeout(() => {
      // Something newer may be pointed out by now.
      if (this[how] === cells) this[how] = [];
      this.onChange();
    }, time);
  }

  /** Tell once that one's own time runs short; the clock shows it too. @param {import("../game.js").Table} table */
  watchTime(table) {
    const { clock, you, shared } = table.room;
    const side = clock.running;
    if (this.#isTimeTold || shared || !side || !you.includes(side) || timeLeft(table, side) >= SHORT_TIME) return;
    this.#isTimeTold = true;
    playSound("low");
    announce(t("You have less than {n} seconds left.", { n: SHORT_TIME / 1000 }));
  }
}

/** Show a notice outside the page, to who wants it and is elsewhere. @param {string} words @param {string} tag */
export function notify(words, tag) {
  if (!preferences.notices || !document.hidden) return;
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  try {
    // biome-ignore lint/correctness/noUnusedInstantiation: the browser shows it, and nothing else is done with it.
    new Notification("Kamon", { body: words, tag, icon: "/static/icon-192.png" });
  } catch {
    // Browsers on phones have the class but throw. The title of the tab tells it too.
  }
}
