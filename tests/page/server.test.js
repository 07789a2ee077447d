import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { ask, Latest } from "../../src/kamon/web/static/js/server.js";
import { GameConnection, retryDelay, Socket } from "../../src/kamon/web/static/js/socket.js";
import { loadSentences } from "../../src/kamon/web/static/js/words.js";
import { FakeSocket, fakeBrowser, newest, realBrowser } from "./fake_socket.js";

/** A promise that a test answers when it likes. */
function question() {
  const made = {};
  made.answer = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

describe("Latest", () => {
  it("an answer is shown", async () => {
    const shown = [];
    assert.equal(await new Latest().show(Promise.resolve("board"), shown.push.bind(shown), assert.fail), true);
    assert.deepEqual(shown, ["board"]);
  });

  it("a late answer to an older question is dropped", async () => {
    const latest = new Latest();
    const [older, newer] = [question(), question()];
    const shown = [];
    const show = (answer) => shown.push(answer);
    const both = [latest.show(older.answer, show, assert.fail), latest.show(newer.answer, show, assert.fail)];
    newer.resolve("newer");
    older.resolve("older");
    assert.deepEqual(await Promise.all(both), [false, true]);
    assert.deepEqual(shown, ["newer"]);
  });

  it("a late error of an older question is dropped as well", async () => {
    const latest = new Latest();
    const older = question();
    const first = latest.show(older.answer, assert.fail, assert.fail);
    older.reject(new Error("late"));
    await latest.show(Promise.resolve(1), () => undefined, assert.fail);
    assert.equal(await first, false);
  });

  it("the error of the newest question is shown", async () => {
    const errors = [];
    const failing = Promise.reject(new Error("offline"));
    assert.equal(await new Latest().show(failing, assert.fail, (error) => errors.push(error.message)), false);
    assert.deepEqual(errors, ["offline"]);
  });

  it("a question that is cancelled shows nothing", async () => {
    const latest = new Latest();
    const asked = latest.show(Promise.resolve(1), assert.fail, assert.fail);
    latest.cancel();
    assert.equal(await asked, false);
  });
});

describe("ask", () => {
  afterEach(() => mock.restoreAll());
  const answering = (body, status = 200) =>
    mock.method(globalThis, "fetch", async () => new Response(body, { status }));

  it("a body is posted as JSON", async () => {
    const asked = answering('{"id": "abc"}');
    assert.deepEqual(await ask("/api/games", { against: "self" }), { id: "abc" });
    const [path, options] = asked.mock.calls[0].arguments;
    assert.equal(path, "/api/games");
    assert.equal(options.method, "POST");
    assert.equal(options.body, '{"against":"self"}');
  });

  it("what the server says of an error is thrown", async () => {
    answering('{"code": "too-many", "message": "wait", "values": {"seconds": 7}}', 429);
    await assert.rejects(ask("/api/games"), { code: "too-many", message: "wait", values: { seconds: 7 } });
  });

  it("without a connection, or with an answer that is no JSON, one is offline", async () => {
    mock.method(globalThis, "fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    await assert.rejects(ask("/"), { code: "offline" });
    answering("<html>", 502);
    await assert.rejects(ask("/"), { code: "offline" });
    answering("<html>");
    await assert.rejects(ask("/"), { code: "offline" });
  });
});

describe("retryDelay", () => {
  afterEach(() => mock.restoreAll());

  it("its limit doubles from 800 ms to 8 s", () => {
    mock.method(Math, "random", () => 1);
    const limits = [0, 1, 2, 3, 4, 50].map((failures) => retryDelay(failures));
    assert.deepEqual(limits, [800, 1600, 3200, 6400, 8000, 8000]);
  });

  it("those who lose a server at the same moment come back evenly spread", () => {
    const random = mock.method(Math, "random", () => 0);
    assert.equal(retryDelay(2), 0);
    random.mock.restore();
    const quarters = [0, 0, 0, 0];
    for (let page = 0; page < 4000; page += 1) quarters[Math.floor(retryDelay(0) / 200)] += 1;
    for (const count of quarters) assert.ok(count > 800 && count < 1200, String(quarters));
  });

  it("where the server says that it restarts, the first attempt is sooner", () => {
    mock.method(Math, "random", () => 1);
    assert.equal(retryDelay(0, 1012), 400);
    assert.equal(retryDelay(1, 1012), 1600);
  });
});

describe("Socket", () => {
  beforeEach(fakeBrowser);
  afterEach(realBrowser);

  const make = (owner = {}) => new Socket({ onOpen: () => undefined, onMessage: () => undefined, ...owner });

  it("the scheme is that of the page", () => {
    make().connect();
    assert.equal(newest().address, "wss://kamon.example/ws");
  });

  it("nothing is sent before it is open", () => {
    const socket = make();
    socket.connect();
    assert.equal(socket.send("{}"), false);
    newest().open();
    assert.equal(socket.send("{}"), true);
  });

  it("a lost connection is made again, each time after a longer wait, until something succeeds", () => {
    const socket = make();
    socket.connect();
    for (const [number, delay] of [400, 800, 1600].entries()) {
      newest().lose();
      mock.timers.tick(delay - 1);
      assert.equal(FakeSocket.made.length, number + 1);
      mock.timers.tick(1);
      assert.equal(FakeSocket.made.length, number + 2);
    }
    socket.succeeded();
    newest().lose();
    mock.timers.tick(400);
    assert.equal(FakeSocket.made.length, 5);
  });

  it("a page whose server restarts connects again at once, and waits longer if that fails", () => {
    make().connect();
    newest().lose(1012);
    mock.timers.tick(200);
    assert.equal(FakeSocket.made.length, 2);
    newest().lose();
    mock.timers.tick(799);
    assert.equal(FakeSocket.made.length, 2);
    mock.timers.tick(1);
    assert.equal(FakeSocket.made.length, 3);
  });

  it("a connection that nobody needs is not made again", () => {
    make({ isNeeded: () => false }).connect();
    newest().lose();
    mock.timers.tick(60_000);
    assert.equal(FakeSocket.made.length, 1);
  });

  it("connecting at once replaces the waiting", () => {
    const socket = make();
    socket.connect();
    newest().lose();
    socket.connect();
    mock.timers.tick(60_000);
    assert.equal(FakeSocket.made.length, 2);
  });

  it("after a silence the server is asked, and lost if it does not answer", () => {
    const lost = mock.fn();
    const watched = make({ onLost: lost });
    watched.watchSilence();
    watched.connect();
    const socket = newest();
    socket.open();
    mock.timers.tick(10_000);
    assert.deepEqual(socket.sent, [{ type: "ping" }]);
    socket.tell({ type: "pong" });
    mock.timers.tick(5000);
    assert.equal(lost.mock.callCount(), 0);
    mock.timers.tick(5000);
    assert.equal(socket.sent.length, 2);
    mock.timers.tick(5000);
    assert.equal(lost.mock.callCount(), 1);
    assert.equal(socket.readyState, 3);
  });
});

describe("GameConnection", () => {
  /** @type {{news: any[], states: any[]}} */
  let heard;
  /** @type {GameConnection} */
  let game;

  beforeEach(() => {
    fakeBrowser();
    heard = { news: [], states: [] };
    game = new GameConnection(
      "abc",
      (news) => heard.news.push(news),
      (state, error) => heard.states.push([state, error?.code]),
    );
    newest().open();
  });
  afterEach(realBrowser);

  it("it asks for the game from the beginning, and after a loss for what it has missed", () => {
    assert.deepEqual(newest().sent, [{ type: "watch", game: "abc", after: 0 }]);
    newest().tell({ type: "room", view: { number: 7 }, events: [] });
    assert.equal(heard.news.length, 1);
    newest().lose();
    mock.timers.tick(400);
    newest().open();
    assert.deepEqual(newest().sent, [{ type: "watch", game: "abc", after: 7 }]);
    assert.deepEqual(heard.states, [["open", undefined]]);
  });

  it("a lost connection is told only if it is not back within a second", () => {
    newest().tell({ type: "room", view: { number: 7 }, events: [] });
    newest().lose();
    mock.timers.tick(400);
    newest().open();
    newest().tell({ type: "room", view: { number: 7 }, events: [] });
    mock.timers.tick(5000);
    assert.deepEqual(
      heard.states.map(([state]) => state),
      ["open", "open"],
    );
    newest().lose();
    mock.timers.tick(400);
    // The next one fails as well, and is told once.
    newest().lose();
    mock.timers.tick(599);
    assert.equal(heard.states.length, 2);
    mock.timers.tick(1);
    assert.deepEqual(heard.states.at(-1), ["lost", undefined]);
    mock.timers.tick(60_000);
    assert.equal(heard.states.length, 3);
  });

  it("a command that was not answered is sent again with the same id", async () => {
    const done = game.do("move", { cell: "d4" });
    const [, first] = newest().sent;
    assert.equal(first.do, "move");
    assert.match(first.id, /^[0-9a-f]{24}$/u);
    newest().lose();
    mock.timers.tick(400);
    newest().open();
    assert.deepEqual(newest().sent[1], first);
    newest().tell({ type: "done", id: first.id, number: 8 });
    assert.equal(await done, 8);
    newest().lose();
    mock.timers.tick(800);
    newest().open();
    assert.equal(newest().sent.length, 1);
  });

  it("a command that is given while there is no connection is sent when there is one", () => {
    newest().lose();
    game.do("resign");
    mock.timers.tick(400);
    newest().open();
    assert.deepEqual(
      newest().sent.map((message) => message.type),
      ["watch", "do"],
    );
  });

  it("each command has an id of its own, and its own error", async () => {
    const first = game.do("move", { cell: "a1" });
    const second = game.do("move", { cell: "a2" });
    const [, one, other] = newest().sent;
    assert.notEqual(one.id, other.id);
    newest().tell({ type: "error", id: other.id, code: "not-your-turn" });
    newest().tell({ type: "done", id: one.id, number: 1 });
    await assert.rejects(second, { code: "not-your-turn" });
    assert.equal(await first, 1);
  });

  it("an error that belongs to no command is a refusal", async () => {
    newest().tell({ type: "error", code: "no-such-game" });
    // The sentences of errors are loaded first.
    await loadSentences();
    assert.deepEqual(heard.states, [["refused", "no-such-game"]]);
  });
});
