// The page of puzzles: training, against the clock, the puzzle of the day, and moves that one has missed.
import { html, nothing, render } from "../vendor/lit-html.js";
import { emptyPlace, stone } from "./crests.js";
import { boardIn, button, errorLine, needToMatch, shareText, showBoard } from "./parts.js";
import { calendarOf, monthAfter } from "./puzzles/calendar.js";
import { changeWords, ratingWords, THEMES, taskWords, themeName, turnsWords } from "./puzzles/sayings.js";
import { Solving } from "./puzzles/solving.js";
import { ask, Latest } from "./server.js";
import { announce, onPreferences, preferences } from "./shell.js";
import { dayWords, errorWords, numberWords, t, timeWords, tn } from "./words.js";

/** @typedef {import("./types").PuzzleView} Puzzle */
/** @typedef {import("./types").MissedView} Missed */
/** @typedef {import("./types").MoveView} Move */
/** @typedef {import("./types").ProgressView} Progress */
/** @typedef {import("./types").CalendarView} Calendar */
/** @typedef {import("./types").RunView} Run */
/** @typedef {"training" | "day" | "run" | "missed"} Mode */

/** How long a mistake is shown while the clock runs, and how often the clock is drawn. */
const GLANCE = 1600;
const TICK = 200;

const root = /** @type {HTMLElement} */ (document.getElementById("puzzles"));
const questions = new Latest();
const given = { puzzle: root.dataset.puzzle ?? "", day: root.dataset.day ?? "" };

/** The kinds of puzzles that have no address of their own are named behind the #. @type {Mode[]} */
const UNADDRESSED = ["run", "missed"];

const state = {
  mode: /** @type {Mode} */ (given.day ? "day" : "training"),
  theme: "",
  error: "",
  loading: true,
  copied: false,
};
/** @type {Solving | null} */
let solving = null;
/** @type {Progress | null} */
let progress = null;
/** @type {Calendar | null} */
let calendar = null;
const months = new Latest();
/** The month that was asked for last. */
let month = given.day.slice(0, 7);
/** The run against the clock, and when it ends by the clock of this browser. @type {(Run & {ends: number}) | null} */
let run = null;
/** The puzzles that went wrong in this run. @type {string[]} */
let failed = [];
/** @type {ReturnType<typeof setInterval> | undefined} */
let ticking;
let hasBegun = false;

// --- Getting puzzles -----------------------------------------------------------------------------

/** @param {string} path */
function open(path) {
  Object.assign(state, { error: "", loading: true, copied: false });
  update();
  return questions.show(ask(path), begin, showError);
}

/** @param {Puzzle | Missed} task */
function begin(task) {
  state.loading = false;
  // Whoever loads the page again, or comes back to it, finds the same puzzle.
  if (state.mode === "training" && "id" in task) history.replaceState(null, "", `/puzzles/${task.id}`);
  const isRun = state.mode === "run";
  solving = new Solving(task, { onChange: update, onJudged, root, run: isRun });
  if (!isRun) announce(taskWords(task));
  update();
}

function openMissed() {
  Object.assign(state, { error: "", loading: true });
  solving = null;
  update();
  const found = (/** @type {{missed: Missed | null}} */ { missed }) => {
    state.loading = false;
    if (missed) begin(missed);
    else update();
  };
  return questions.show(ask("/api/puzzles/missed"), found, showError);
}

/** @param {any} problem */
function showError(problem) {
  Object.assign(state, { loading: false, error: errorWords(problem) });
  solving = null;
  update();
}

function next() {
  if (state.loading) return;
  if (state.mode === "day") setMode("training");
  else if (state.mode === "missed") openMissed();
  else {
    const theme = state.theme ? `?theme=${state.theme}` : "";
    open(`/api/puzzles/next${theme}`).then((shown) => shown && boardIn(root)?.focus());
  }
}

/** @param {Partial<Move>} move */
function onJudged(move) {
  if (move.progress) progress = move.progress;
  if (calendar && state.mode === "day") showMonth(month);
  if (move.run) goOnRunning(move.run, Boolean(move.right));
  else if (move.done && move.right) setTimeout(() => focusPrimary());
}

const focusPrimary = () => /** @type {HTMLElement | null} */ (root.querySelector("button.primary"))?.focus();

// --- Modes ---------------------------------------------------------------------------------------

/** @param {Mode} mode */
function setMode(mode) {
  if (mode === "day" && !given.day) {
    location.href = "/puzzles/day";
    return;
  }
  stopRun();
  run = null;
  solving = null;
  Object.assign(state, { mode, error: "", loading: false });
  if (UNADDRESSED.includes(mode)) history.replaceState(null, "", `/puzzles#${mode}`);
  if (mode === "run") questions.show(ask("/api/puzzles/runs"), resumeRun, showError);
  else if (mode === "day") open(`/api/puzzles/days/${given.day}`);
  else next();
}

/** @param {string} wanted */
function showMonth(wanted) {
  month = wanted;
  const show = (/** @type {Calendar} */ told) => {
    calendar = told;
    update();
  };
  months.show(ask(`/api/puzzles/days?month=${wanted}`), show, (problem) => {
    state.error = errorWords(problem);
    update();
  });
}

/** @param {number} step */
const turnMonth = (step) => showMonth(monthAfter(month, step));

// --- Against the clock ---------------------------------------------------------------------------

function startRun() {
  if (state.loading) return;
  state.loading = true;
  failed = [];
  questions.show(ask("/api/puzzles/runs", {}), noteRun, showError);
}

/**
 * Go on with a run that another window has begun, or this one before it was loaded again.
 * @param {{run: Run | null}} told
 */
function resumeRun(told) {
  if (told.run) noteRun(told.run);
  else update();
}

/** Show the puzzle that a run is at. @param {Run} told */
function noteRun(told) {
  state.loading = false;
  run = { ...told, ends: Date.now() + told.left };
  ticking ??= setInterval(tick, TICK);
  if (told.puzzle) begin(told.puzzle);
  else update();
}

/** @param {Run} told @param {boolean} right */
function goOnRunning(told, right) {
  run = { ...told, ends: Date.now() + told.left };
  if (!right && solving && "id" in solving.task) failed.push(solving.task.id);
  setTimeout(() => isRunning() && noteRun({ ...told, left: (run?.ends ?? 0) - Date.now() }), right ? 0 : GLANCE);
}

function tick() {
  if (run && run.ends <= Date.now()) {
    stopRun();
    solving = null;
    const words = tn("Time’s up: {n} puzzle solved.", "Time’s up: {n} puzzles solved.", run.score);
    announce(words);
    ask("/api/puzzles/me").then((told) => {
      progress = told;
      update();
      focusPrimary();
    }, showError);
  }
  update();
}

function stopRun() {
  clearInterval(ticking);
  ticking = undefined;
}

const isRunning = () => run !== null && run.ends > Date.now();

// --- Sharing -------------------------------------------------------------------------------------

/** @param {Puzzle} puzzle */
const addressOf = (puzzle) => `${location.origin}/puzzles/${puzzle.date ? `day/${puzzle.date}` : puzzle.id}`;

/** Tell others about a puzzle without giving it away. @param {Puzzle} puzzle */
async function share(puzzle) {
  const what = puzzle.date ? t("Kamon, puzzle of {date}", { date: dayWords(puzzle.date) }) : t("A Kamon puzzle");
  // One hexagon for each move: a full one was found at the first try.
  const how = solving?.firstTries.map((clean) => (clean ? "⬢" : "⬡")).join("") ?? "";
  const text = [what, how].filter(Boolean).join(" ");
  state.copied = await shareText(text, addressOf(puzzle));
  update();
}

/** A picture of where a puzzle begins. @param {Puzzle} puzzle */
const pictureOf = (puzzle) =>
  `/api/card.png?${new URLSearchParams({ line: puzzle.line, edition: preferences.edition })}`;

// --- What is shown -------------------------------------------------------------------------------

function update() {
  // Nothing is shown before there is a puzzle, so that nothing has to move for it.
  if (state.loading && !hasBegun) return;
  if (!hasBegun) root.replaceChildren();
  hasBegun = true;
  render(page(), root);
  if (solving) drawBoard(solving);
}

const page = () => html`
  <section class="table" aria-label=${t("Board")}>
    <kamon-board ?hidden=${!solving}></kamon-board>
  </section>
  <aside class="panel">
    ${modes()}
    ${errorLine(state.error || (solving?.error ?? ""))}
    ${state.loading && !solving ? html`<p class="loading">${t("One moment…")}</p>` : nothing}
    ${state.mode === "run" ? runPanel() : nothing}
    ${solving ? taskPanel(solving) : nothing}
    ${state.mode === "missed" && !solving && !state.loading ? missedAdvice() : nothing}
    ${state.mode === "training" ? themes() : nothing}
    ${state.mode === "day" && calendar ? calendarOf(calendar, given.day, turnMonth) : nothing}
    ${progress ? standing(progress) : nothing}
  </aside>`;

function modes() {
  /** @type {[Mode, string][]} */
  const all = [
    ["training", t("Training")],
    ["day", t("Today")],
    ["run", t("Timed")],
    ["missed", t("Missed")],
  ];
  return html`<nav class="tabs modes" aria-label=${t("Kinds of puzzles")}>${all.map(
    ([mode, label]) => html`<button type="button" class="tab" aria-pressed=${mode === state.mode ? "true" : "false"}
      @click=${() => setMode(mode)}>${label}</button>`,
  )}</nav>`;
}

/** @param {Solving} current */
function taskPanel(current) {
  const { task: puzzle } = current;
  const isPuzzle = "id" in puzzle;
  return html`<div class="task">
    ${isPuzzle && puzzle.date ? html`<p class="small">${dayWords(puzzle.date)}</p>` : nothing}
    <div class="asked">${stone(/** @type {"black" | "white"} */ (puzzle.side))}<h2>${heading(current)}</h2></div>
    ${isPuzzle && state.mode !== "run" ? about(current, puzzle) : nothing}
    ${!current.done && !current.shown && current.board.need ? needToMatch(current.board.need) : nothing}
    ${current.answer ? html`<p class="answer ${current.answer.kind}">${current.answer.say()}</p>` : nothing}
    ${current.change === null || !progress ? nothing : ratingChange(current.change, progress)}
    ${state.mode === "run" ? nothing : buttons(current)}
    ${current.done && isPuzzle ? after(current, puzzle) : nothing}
    ${current.done && !isPuzzle ? gameLink(puzzle) : nothing}
  </div>`;
}

/** @param {number} change @param {Progress} now */
const ratingChange = (change, now) =>
  html`<p class="change">${t("Your rating: {rating} ({change})", {
    rating: ratingWords(now),
    change: changeWords(change),
  })}</p>`;

/** @param {Solving} current */
function heading({ task, done, result }) {
  if (done) return result === "solved" ? t("Solved!") : t("That’s it.");
  if (state.mode !== "missed") return taskWords(task);
  return task.goal === "draw"
    ? t("From a game of yours: here you could still have drawn. Find the move.")
    : t("From a game of yours: here you could still have won. Find the move.");
}

/** @param {Solving} current @param {Puzzle} puzzle */
function about({ found, result }, { turns, rated, rating, tries, result: before }) {
  const dots = Array.from({ length: turns }, (_, at) => html`<i class=${at < found.length ? "learnt" : ""}></i>`);
  // The visitor's own try counts too, as soon as it is over.
  const count = tries + (result && !before ? 1 : 0);
  const tried = count ? `, ${tn("tried {n} time", "tried {n} times", count)}` : "";
  const worth = rated || before ? `${t("Rating {n}", { n: rating })}${tried}` : t("For practice, without a rating");
  return html`<p class="progress small"><span class="dots" aria-hidden="true">${dots}</span>
    <span>${turnsWords(turns)}</span>
    <span>${worth}</span></p>`;
}

/** @param {Solving} current */
function buttons(current) {
  const isPuzzle = "id" in current.task;
  const label = state.mode === "day" ? t("More puzzles") : t("Next puzzle");
  if (current.done) return html`<div class="row">${button(label, next, "primary")}</div>`;
  if (current.shown && !current.busy)
    return html`<div class="row">${button(t("Try again"), () => current.takeBack(), "primary")}
      ${isPuzzle ? button(t("Show the move"), () => showMove(current)) : nothing}${button(label, next)}</div>`;
  return html`<div class="row">${isPuzzle ? helpButton(current) : nothing}
    ${current.result === null && isPuzzle ? nothing : button(label, next)}</div>
    ${
      isPuzzle && current.result === null && current.hints === 1
        ? html`<p class="small">${t("If you take another hint, this puzzle counts as failed.")}</p>`
        : nothing
    }`;
}

/** @param {Solving} current */
function helpButton(current) {
  if (current.hints >= 3) return nothing;
  const labels = [t("Hint"), t("Another hint"), t("Show the move")];
  return button(labels[current.hints], () => current.help(), "");
}

/** @param {Solving} current */
function showMove(current) {
  current.hints = 2;
  current.help();
}

/** @param {Solving} current @param {Puzzle} puzzle */
function after(current, puzzle) {
  const { solution } = current;
  if (!solution) return nothing;
  const study = `/study?${new URLSearchParams({ line: solution.line })}`;
  return html`<p class="small">${solution.themes.map(themeName).join(" · ")}</p>
    <p class="row"><a class="button quiet" href=${study}>${t("Study it")}</a>
      ${button(state.copied ? t("Copied.") : t("Share"), () => share(puzzle))}
      <a class="button quiet" href=${pictureOf(puzzle)} download="kamon-puzzle.png">${t("Picture")}</a></p>`;
}

/** @param {Missed} missed */
const gameLink = ({ game }) =>
  html`<p class="row"><a class="button quiet" href="/study?game=${game}&review">${t("Review this game")}</a></p>`;

/** @param {Event} event */
function onTheme({ target }) {
  state.theme = /** @type {HTMLSelectElement} */ (target).value;
  next();
}

/** @param {string} theme */
const themeOption = (theme) =>
  html`<option value=${theme} ?selected=${theme === state.theme}>${themeName(theme)}</option>`;

const themes = () => html`<label class="theme">${t("Topic")}
  <select @change=${onTheme}><option value="" ?selected=${!state.theme}>${t("All topics")}</option>
    ${THEMES.map(themeOption)}
  </select></label>`;

const missedAdvice = () =>
  emptyPlace(
    t("Here you will find the moves that you missed in your own games. There are none yet."),
    "/",
    t("Play a game"),
  );

function runPanel() {
  if (isRunning() && run)
    return html`<p class="run"><span class="clock running ${run.ends - Date.now() < 20_000 ? "short" : ""}" role="timer"
      >${timeWords(run.ends - Date.now())}</span> <strong>${tn("{n} solved", "{n} solved", run.score)}</strong></p>`;
  const words = run
    ? tn("Time’s up: {n} puzzle solved.", "Time’s up: {n} puzzles solved.", run.score)
    : t("Solve as many puzzles as you can in three minutes. They get harder, and each mistake costs ten seconds.");
  return html`<h2>${t("Against the clock")}</h2><p>${words}</p>
    <div class="row">${button(run ? t("Start again") : t("Start"), startRun, "primary")}</div>
    ${run && failed.length ? failedList() : nothing}`;
}

const failedList = () => html`<p>${t("Look again at those that went wrong:")}</p>
  <ul class="list row">${failed.map(
    (id, at) => html`<li><a href="/puzzles/${id}">${t("Puzzle {n}", { n: at + 1 })}</a></li>`,
  )}</ul>`;

/** @param {Progress} told */
function standing(told) {
  const { solved, missed, streak, best_streak: best, best_run: bestRun } = told;
  if (!(solved + missed + bestRun)) return nothing;
  /** @type {[string, string][]} */
  const facts = [
    [t("Your rating"), ratingWords(told)],
    [t("Solved"), `${numberWords(solved)} / ${numberWords(solved + missed)}`],
    [t("Solved in a row"), t("{n} (best: {best})", { n: streak, best })],
  ];
  if (bestRun) facts.push([t("Best in three minutes"), numberWords(bestRun)]);
  return html`<dl class="standing">${facts.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** @param {Solving} current */
function drawBoard(current) {
  const board = current.shown ?? current.board;
  const marked = current.marked.length ? { ...board, legal: current.marked, replies: {} } : board;
  showBoard(
    boardIn(root),
    { board: marked, coordinates: preferences.coordinates, playable: current.isOpen },
    { "kamon-play": (cell) => solving?.play(cell) },
  );
}

onPreferences(update);
// The address may change by hand, or by the Back button.
addEventListener("hashchange", () => {
  const mode = UNADDRESSED.find((each) => location.hash === `#${each}`);
  if (mode && mode !== state.mode) setMode(mode);
});
ask("/api/puzzles/me").then((told) => {
  progress = told;
  update();
}, showError);
const named = UNADDRESSED.find((mode) => location.hash === `#${mode}`);
if (given.day) {
  open(`/api/puzzles/days/${given.day}`);
  showMonth(month);
} else if (given.puzzle) open(`/api/puzzles/${given.puzzle}`);
else if (named) setMode(named);
else open("/api/puzzles/next");
