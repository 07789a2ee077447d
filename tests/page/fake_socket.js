// A browser's WebSocket, clock and window, as far as the page's sockets need them.
import { mock } from "node:test";

export class FakeSocket {
  static OPEN = 1;
  /** Every socket that was made, the newest last. @type {FakeSocket[]} */
  static made = [];

  readyState = 0;
  /** @type {any[]} */
  sent = [];

  /** @param {string} address */
  constructor(address) {
    this.address = address;
    FakeSocket.made.push(this);
  }

  /** @param {string} text */
  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.readyState = 3;
  }

  // What a server does.

  open() {
    this.readyState = FakeSocket.OPEN;
    this.onopen();
  }

  /** @param {unknown} message */
  tell(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }

  /** @param {number} [code] */
  lose(code = 1006) {
    this.readyState = 3;
    this.onclose({ code });
  }
}

/** The socket that was made last. */
export const newest = () => FakeSocket.made.at(-1);

/** Let time stand still until a test moves it on, and chance always be in the middle. */
export function fakeBrowser() {
  FakeSocket.made = [];
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  mock.method(Math, "random", () => 0.5);
  Object.assign(globalThis, {
    WebSocket: FakeSocket,
    addEventListener: () => undefined,
    document: { visibilityState: "visible" },
    location: { protocol: "https:", host: "kamon.example" },
  });
}

export function realBrowser() {
  mock.timers.reset();
  mock.restoreAll();
}
