// A socket that comes back by itself, and on it one game.

import { loadSentences } from "./words.js";

/** @typedef {import("./server.js").Trouble} Trouble */

const FIRST_DELAY = 800;
const LONGEST_DELAY = 8000;
/** What a server says that is told to stop, and within which time its pages come back: another one is there. */
const RESTART = 1012;
const RESTART_DELAY = 400;
/** A connection that is lost for no longer is not worth a word. */
const NOTICE_AFTER = 1000;
/** How long the server may be silent before we ask, how long it may take to answer, how often we look. */
const SILENCE = 8000;
const PATIENCE = 5000;
const CHECKS = 10_000;

/**
 * How long to wait before connecting again: any time up to a limit that doubles after each failure. All who have
 * lost a server at the same moment come back evenly spread.
 * @param {number} failures @param {number} [code] What the server said when it closed the connection.
 */
export const retryDelay = (failures, code) =>
  Math.random() *
  (code === RESTART && !failures ? RESTART_DELAY : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures));

/** A connection that comes back by itself as long as somebody needs it. */
export class Socket {
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #heard = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;

  /**
   * @param {object} owner
   * @param {() => void} owner.onOpen
   * @param {(message: any) => void} owner.onMessage
   * @param {() => void} [owner.onLost]
   * @param {() => boolean} [owner.isNeeded] Should a lost connection be made again?
   */
  constructor({ onOpen, onMessage, onLost, isNeeded = () => true }) {
    this.onOpen = onOpen;
    this.onMessage = onMessage;
    this.onLost = onLost;
    this.isNeeded = isNeeded;
  }

  /** Notice a dead connection: a browser that wakes from sleep may hold one without knowing it. */
  watchSilence() {
    setInterval(() => this.#check(), CHECKS);
    for (const name of ["online", "pageshow", "visibilitychange"]) addEventListener(name, () => this.#check());
  }

  /** Connect now, if there is no connection and none on its way. */
  connect() {
    if (this.#socket) return;
    clearTimeout(this.#retry);
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.#socket = socket;
    socket.onopen = () => {
      this.#heard = Date.now();
      this.onOpen();
    };
    socket.onmessage = (event) => {
      this.#heard = Date.now();
      this.onMessage(JSON.parse(event.data));
    };
    socket.onclose = (event) => this.#lose(socket, event.code);
  }

  /** Send a message, if there is a connection. @param {string} text @returns {boolean} */
  send(text) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  /** Nobody needs the connection any more. */
  close() {
    clearTimeout(this.#retry);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** The server has done what it was asked for, so the next loss is the first one. */
  succeeded() {
    this.#failures = 0;
  }

  /** @param {WebSocket} socket @param {number} [code] */
  #lose(socket, code) {
    if (this.#socket !== socket) return;
    this.#socket = null;
    socket.close();
    this.onLost?.();
    if (!this.isNeeded()) return;
    this.#retry = setTimeout(() => this.connect(), retryDelay(this.#failures, code));
    this.#failures += 1;
  }

  /** After a long silence ask whether the server is there; a dead connection would not tell for minutes. */
  #check() {
    const socket = this.#socket;
    const asked = Date.now();
    if (!socket || document.visibilityState === "hidden") return;
    if (asked - this.#heard < SILENCE || !this.send('{"type":"ping"}')) return;
    setTimeout(() => {
      if (this.#heard < asked) this.#lose(socket);
    }, PATIENCE);
  }
}

// --- One game ------------------------------------------------------------------------------------

/** @typedef {{view: import("./types").RoomView, events: import("./types").EventView[]}} News */
/** @typedef {{message: string, resolve: (number: number) => void, reject: (error: Trouble) => void}} Command */

/** An id that is sent with a command, so that the server obeys it once, however often it comes. */
const commandId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Watches a game, and sends commands until they are answered. */
export class GameConnection {
  /** The number of the last event that has come. */
  #seen = 0;
  /** The commands that have not been answered, by id. @type {Map<string, Command>} */
  #waiting = new Map();
  /** Says that the connection is lost, unless it is back soon. @type {ReturnType<typeof setTimeout> | undefined} */
  #notice;

  /**
   * @param {string} game
   * @param {(news: News) => void} onNews
   * @param {(state: "open" | "lost" | "refused", error?: Trouble) => void} onState
   */
  constructor(game, onNews, onState) {
    this.game = game;
    this.onNews = onNews;
    this.onState = onState;
    this.socket = new Socket({
      onOpen: () => this.#watch(),
      onMessage: (message) => this.#hear(message),
      onLost: () => {
        this.#notice ??= setTimeout(() => onState("lost"), NOTICE_AFTER);
      },
    });
    this.socket.watchSilence();
    this.socket.connect();
  }

  /**
   * Send a command, and wait until the server has stored what it does.
   * @param {string} what @param {Record<string, unknown>} [data] @returns {Promise<number>}
   */
  do(what, data = {}) {
    const id = commandId();
    const message = JSON.stringify({ type: "do", game: this.game, id, do: what, after: this.#seen, data });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { message, resolve, reject });
      this.socket.send(message);
    });
  }

  /** Ask for what was missed, and send again what has not been answered, under the same ids. */
  #watch() {
    this.socket.send(JSON.stringify({ type: "watch", game: this.game, after: this.#seen }));
    for (const { message } of this.#waiting.values()) this.socket.send(message);
  }

  /** @param {any} message */
  #hear(message) {
    if (message.type === "room") {
      this.socket.succeeded();
      clearTimeout(this.#notice);
      this.#notice = undefined;
      this.#seen = message.view.number;
      this.onState("open");
      this.onNews(message);
    } else if (message.type === "done" || message.type === "error") this.#answer(message);
  }

  /** @param {{type: "done" | "error", id: string, number: number} & Trouble} message */
  async #answer(message) {
    const command = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "error") await loadSentences();
    if (message.type === "done") command?.resolve(message.number);
    else if (command) command.reject(message);
    else this.onState("refused", message);
  }
}
