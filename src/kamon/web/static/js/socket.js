// One connection to the server, which comes back by itself and asks for what it missed.
import { commandId } from "./shell.js";

/** @typedef {{view: import("./types").RoomView, events: import("./types").GameEvent[]}} News */

/** So long may the server be silent before we ask, and so long may its answer take, in milliseconds. */
const SILENCE = 8000, PATIENCE = 5000;

export class Connection {
  /**
   * @param {string} game
   * @param {(news: News) => void} onNews
   * @param {(state: "open" | "lost" | "refused", error?: {code: string, message: string}) => void} onState
   */
  constructor(game, onNews, onState) {
    this.game = game;
    this.onNews = onNews;
    this.onState = onState;
    this.seen = 0;
    this.tries = 0;
    this.heard = Date.now();
    /** Commands that have not been answered: they are sent again after a reconnection. @type {Map<string, {message: string, resolve: (number: number) => void, reject: (error: unknown) => void}>} */
    this.waiting = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.connect();
    // A browser that wakes from sleep may hold a dead connection without knowing it.
    setInterval(() => this.#check(), 10_000);
    for (const name of ["online", "pageshow", "visibilitychange"]) window.addEventListener(name, () => this.#check());
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => {
      this.heard = Date.now();
      socket.send(JSON.stringify({ type: "watch", game: this.game, after: this.seen }));
      for (const { message } of this.waiting.values()) socket.send(message);
    };
    socket.onmessage = (event) => this.#hear(JSON.parse(event.data));
    socket.onclose = () => this.#lose(socket);
  }

  /** Let a connection go, and try again in a while. @param {WebSocket} socket */
  #lose(socket) {
    if (this.socket !== socket) return;
    this.socket = null;
    socket.close();
    this.onState("lost");
    const delay = Math.min(8000, 300 * 2 ** this.tries++) * (0.5 + Math.random());
    setTimeout(() => this.socket ?? this.connect(), delay);
  }

  /** @param {any} message */
  #hear(message) {
    this.heard = Date.now();
    if (message.type === "room") {
      this.tries = 0;
      this.seen = message.view.number;
      this.onState("open");
      this.onNews(message);
    } else if (message.type === "done" || message.type === "error") {
      const asked = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (!asked && message.type === "error") this.onState("refused", message);
      else if (message.type === "done") asked?.resolve(message.number);
      else asked?.reject(message);
    }
  }

  /** After a long silence, ask whether anybody is there; a dead connection would not tell for minutes. */
  #check() {
    const socket = this.socket, asked = Date.now();
    if (!socket || socket.readyState !== WebSocket.OPEN || document.visibilityState === "hidden") return;
    if (asked - this.heard < SILENCE) return;
    socket.send('{"type":"ping"}');
    setTimeout(() => { if (this.heard < asked) this.#lose(socket); }, PATIENCE);
  }

  /** Ask for something and wait until it is safely written. @param {string} what @param {Record<string, unknown>} [data] @returns {Promise<number>} */
  do(what, data = {}) {
    const id = commandId();
    const message = JSON.stringify({ type: "do", game: this.game, id, do: what, after: this.seen, data });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { message, resolve, reject });
      if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(message);
    });
  }
}
