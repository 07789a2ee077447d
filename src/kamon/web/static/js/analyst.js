// The engine that thinks aloud: one question at a time over a socket that comes back by itself.

export class Analyst {
  /**
   * @param {(told: any) => void} onTold
   * @param {(error: {code?: string, message?: string, retry?: number}) => void} onError
   */
  constructor(onTold, onError) {
    this.onTold = onTold;
    this.onError = onError;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** The question that is not answered yet. @type {string | null} */
    this.question = null;
  }

  /** @param {"study" | "review"} type @param {string} line @param {number} [deep] */
  ask(type, line, deep = 0) {
    this.question = JSON.stringify({ type, line, deep });
    this.#send(this.question);
  }

  stop() {
    this.question = null;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send('{"type":"stop"}');
  }

  /** @param {string} text */
  #send(text) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (!this.socket) this.#connect();
  }

  #connect() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => this.question && socket.send(this.question);
    socket.onmessage = (event) => this.#hear(JSON.parse(event.data));
    socket.onclose = () => {
      this.socket = null;
      // Only somebody who waits for an answer comes back for it.
      if (this.question) setTimeout(() => this.socket ?? this.#connect(), 1500);
    };
  }

  /** @param {any} message */
  #hear(message) {
    if (message.type === "error") {
      this.question = null;
      this.onError(message);
    } else if (message.type === "study" || message.type === "review") {
      if (message.end) this.question = null;
      this.onTold(message);
    }
  }
}
