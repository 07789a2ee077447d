import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ALL_TOKENS, stillBoard } from "../../src/kamon/web/static/js/cells.js";
import * as words from "../../src/kamon/web/static/js/words.js";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** A game between two people at different screens, Black to play. */
const room = (more = {}) => ({
  status: "playing",
  you: ["black"],
  shared: false,
  seats: { black: { kind: "person", name: "Ann", level: 0 }, white: { kind: "person", name: "", level: 0 } },
  moves: [],
  board: { ...stillBoard({ tokens: ALL_TOKENS }), turn: "black", legal: ["b1", "c1"] },
  result: null,
  ...more,
});

describe("t", () => {
  it("names in braces are filled in, and those without a value stay", () => {
    assert.equal(words.t("Step {n} of {count}", { n: 3 }), "Step 3 of {count}");
    assert.equal(words.t("no such text"), "no such text");
  });

  it("a page in another language has its words, and English where one is missing", async () => {
    globalThis.document = { documentElement: { lang: "de" } };
    const german = await import("../../src/kamon/web/static/js/words.js?german");
    assert.equal(german.tn("{n} day", "{n} days", 3), "3 Tage");
    assert.equal(german.tn("{n} day", "{n} days", 1), "1 Tag");
    assert.equal(german.t("butterfly"), "Schmetterling");
    assert.equal(german.t("Your turn."), "Your turn.");
  });
});

describe("numbers", () => {
  it("counted texts have a singular and a plural", () => {
    assert.equal(words.tn("{n} day", "{n} days", 1), "1 day");
    assert.equal(words.tn("{n} day", "{n} days", 1200), "1,200 days");
  });

  it("large numbers are short, and written as the language does", async () => {
    assert.deepEqual([0, 1499, 999_000, 2_340_000].map(words.roughNumberWords), ["0", "1.5K", "999K", "2.3M"]);
    globalThis.document = { documentElement: { lang: "de" } };
    const german = await import("../../src/kamon/web/static/js/words.js?german");
    assert.match(german.roughNumberWords(2_340_000), /^2,3/u);
  });
});

describe("times", () => {
  for (const [milliseconds, shown] of [
    [0, "0:00"],
    [1, "0:01"],
    [59_000, "0:59"],
    [60_000, "1:00"],
    [61 * MINUTE, "1:01:00"],
    [DAY, "24:00:00"],
    [2 * DAY - 1000, "47:59:59"],
    [2 * DAY, "2 days"],
    [6.9 * DAY, "6 days"],
  ])
    it(`${milliseconds} ms are ${shown}`, () => assert.equal(words.timeWords(milliseconds), shown));

  for (const [control, shown] of [
    ["-", "no clock"],
    ["180+2", "3 min + 2 s"],
    ["1/86400", "1 day per move"],
    ["1/604800", "7 days per move"],
  ])
    it(`${control} is ${shown}`, () => assert.equal(words.controlWords(control), shown));
});

describe("tokens", () => {
  it("by symbol and colour in 2020, by sign and number in 2007", () => {
    assert.equal(words.tokenWords("B2", "2020"), "blue fish");
    assert.equal(words.tokenWords("B2", "2007"), "two cups");
    assert.equal(words.tokenWords("--", "2020"), "neutral");
    assert.equal(words.needWords("A1", "2020"), "any butterfly, or anything red");
    assert.equal(words.needWords("A1", "2007"), "any eye, or anything printed once");
  });
});

describe("results", () => {
  it("every way to end has its own words", () => {
    const ways = ["connection", "loop", "connection+loop", "block", "resignation", "time"];
    const said = ways.map((by) => words.endWords("black", by));
    assert.equal(new Set(said).size, ways.length);
    for (const sentence of said) assert.match(sentence, /^Black wins/u);
    assert.notEqual(words.endWords(null, "agreement"), words.endWords(null, "full"));
  });

  it("a board that has ended says how, another whose turn it is", () => {
    const board = stillBoard({ tokens: ALL_TOKENS });
    assert.equal(words.boardWords({ ...board, turn: "white" }), "White to play.");
    const outcome = { winner: "white", by: ["connection", "loop"], links: [], ring: [], enclosed: [], needed: null };
    assert.equal(words.boardWords({ ...board, outcome }), "White wins with a connection and a loop at once.");
  });

  it("the cells that prove a win are named", () => {
    const outcome = {
      links: [{ colour: "green", chain: ["a1", "a2"] }],
      ring: ["c3", "c4"],
      enclosed: ["d4"],
      needed: { symbol: "A", suit: 1 },
    };
    assert.equal(
      words.proofWords({ outcome }, "2020"),
      "Connection: a1 a2. Loop: c3 c4. Inside: d4. No free token matches. Needed: any butterfly, or anything red.",
    );
    assert.equal(words.proofWords({ outcome: null }, "2020"), "");
  });
});

describe("a game", () => {
  it("players are named by what is known of them", () => {
    assert.equal(words.playerWords(room(), "black"), "Ann");
    assert.equal(words.playerWords(room(), "white"), "Guest");
    assert.equal(words.playerWords(room({ you: ["white"] }), "white"), "You");
    assert.equal(words.playerWords(room({ shared: true }), "white"), "White");
    assert.equal(words.seatWords({ kind: "computer", name: "", level: 2 }), "Computer, level 2 (Oracle)");
  });

  it("the status says whose turn it is, or how it ended", () => {
    assert.equal(words.statusWords(room(), "2020", false), "Your turn.");
    assert.equal(words.statusWords(room({ you: ["white"] }), "2020", false), "Ann’s turn.");
    const { black, white } = room().seats;
    const unnamed = { black: { ...black, name: "" }, white };
    assert.equal(words.statusWords(room({ you: ["white"], seats: unnamed }), "2020", false), "Your opponent’s turn.");
    assert.equal(words.statusWords(room({ you: [], seats: unnamed }), "2020", false), "Black to play.");
    assert.equal(words.statusWords(room({ you: [] }), "2020", false), "Ann’s turn.");
    const computer = { kind: "computer", name: "", level: 1 };
    const waiting = room({ you: ["white"], seats: { black: computer, white: computer } });
    assert.equal(words.statusWords(waiting, "2020", false), "The computer is thinking…");
    assert.match(words.statusWords(waiting, "2020", true), /Getting the computer ready/u);
    assert.equal(words.statusWords(room({ status: "aborted" }), "2020", false), "The game was cancelled.");
    const over = room({ status: "over", result: { winner: "black", by: "time" } });
    assert.equal(words.statusWords(over, "2020", false), "You win!");
  });

  it("a player is told what the end means for them, and others who has won and how", () => {
    const link = (colour) => ({ colour, chain: ["a1", "b1"] });
    const ended = (you, links, ring = []) =>
      room({
        you,
        status: "over",
        result: { winner: "white", by: "connection" },
        board: { ...room().board, outcome: { winner: "white", by: [], links, ring, enclosed: [], needed: null } },
      });
    const yellow = [link("yellow")];
    assert.equal(words.headlineWords(ended(["white"], yellow), "2020"), "You win!");
    assert.equal(words.headlineWords(ended(["black"], yellow), "2020"), "You lose.");
    for (const you of [[], ["black", "white"]])
      assert.equal(words.headlineWords(ended(you, yellow), "2020"), "White wins.");
    assert.equal(words.resultWords(ended(["white"], yellow), "2020"), "You connected the two yellow edges.");
    assert.equal(words.resultWords(ended(["black"], yellow), "2020"), "Your opponent connected the two yellow edges.");
    assert.equal(words.resultWords(ended([], yellow), "2007"), "White wins by connecting the two frog edges.");
    assert.equal(
      words.resultWords(ended([], [link("green"), link("blue")], ["a1"]), "2020"),
      "White wins by connecting the two green edges and the two blue edges and closing a loop.",
    );
    const agreed = room({ status: "over", result: { winner: null, by: "agreement" } });
    assert.equal(words.headlineWords(agreed, "2020"), "A draw.");
    assert.equal(words.resultWords(agreed, "2020"), "A draw by agreement.");
    assert.equal(words.headlineWords(room(), "2020"), "");
  });

  it("the score of a series is told from one side", () => {
    assert.equal(words.scoreWords({ black: 2, white: 1, draws: 0 }, "white"), "1 – 2");
    assert.equal(words.scoreWords({ black: 2, white: 1, draws: 1 }, "black"), "2 – 1 (1 draw)");
  });

  it("each offer that is declined has its own words", () => {
    assert.equal(new Set(["draw", "takeback", "rematch"].map(words.declinedWords)).size, 3);
  });

  it("a move is told with its token and with what may be played", () => {
    const board = { ...room().board, last: "d4", need: "A1" };
    const news = words.newsWords(room({ board, moves: ["b1", "d4"] }), ["moved"], "2020", false);
    assert.equal(
      news,
      "White has played d4: red butterfly. Your turn. To match: any butterfly, or anything red. You may play on these spaces: b1 c1.",
    );
  });

  it("an offer is not told: it is an alert of its own", () => {
    assert.equal(words.newsWords(room(), ["offered"], "2020", false), "");
  });

  it("a refusal gives the reason", () => {
    const board = stillBoard({ tokens: ALL_TOKENS, stones: `x${".".repeat(36)}` });
    assert.equal(words.refusalWords(board, "a1", "2020"), "There is a stone here already.");
    assert.equal(words.refusalWords(board, "g7", "2020"), "Nobody may play on the neutral space.");
    assert.equal(words.refusalWords(board, "b1", "2020"), "Begin on an edge space, but not on a corner.");
    const tokens = ALL_TOKENS.map(() => "B2");
    const wrong = { ...board, tokens, need: "A1" };
    assert.equal(
      words.refusalWords(wrong, "d4", "2020"),
      "This token (blue fish) does not match. Choose any butterfly, or anything red.",
    );
    assert.equal(
      words.refusalWords(wrong, "d4", "2007"),
      "This token (two cups) does not match. Choose any eye, or anything printed once.",
    );
    assert.equal(words.moveWords(wrong, "d4", "2020"), "the blue fish on d4");
  });
});

describe("errors", () => {
  it("a code has its sentence, with the values that the server sends", async () => {
    const error = { code: "too-many", values: { seconds: 9 } };
    assert.equal(words.errorWords(error), "Something went wrong.");
    await words.loadSentences();
    assert.equal(words.errorWords(error), "Too many requests. Try again in 9 s.");
  });

  it("what is wrong with a text follows, with its place and the names of the sides", () => {
    const missing = { code: "missing-tokens", values: { tokens: "A1" } };
    const error = { code: "bad-layout", defects: [missing], column: 3 };
    assert.equal(words.errorWords(error), "These are not the 37 tokens of the game. (column 3: missing: A1)");
    const won = { code: "waiting-side-won", values: { side: "black" } };
    assert.equal(words.defectWords({ defects: [won] }), "Black holds a win");
    assert.equal(
      words.defectWords({ defects: [missing, won], line: 2, column: 1 }),
      "line 2, column 1: missing: A1; Black holds a win",
    );
  });

  it("whatever else goes wrong is told without technical words", () => {
    assert.equal(words.errorWords({ code: "offline" }), "No connection to the server.");
    assert.equal(words.errorWords({ code: "new", message: "a technical remark" }), "Something went wrong.");
    assert.equal(words.errorWords(/** @type {any} */ (new Error("broken"))), "Something went wrong.");
  });
});
