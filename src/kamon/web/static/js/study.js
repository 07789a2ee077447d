// The study board: any position, moves both ways, variations, comments, and what the solver proves.
import { html, nothing, render } from "../vendor/lit-html.js";
import { Analyst } from "./analyst.js";
import { Arrangement, inRows, shuffled } from "./arranging.js";
import { tokenPicture } from "./board.js";
import { reviewPanel, turnWords } from "./review.js";
import { ask, copyText, errorWords, onPreferences, prefer, preferences } from "./shell.js";
import { emptyStudy, Tree } from "./tree.js";
import { levelCount, needWords, t } from "./words.js";

/** @typedef {import("./types").Branch} Branch */
/** @typedef {import("./types").Board} Board */
/** @typedef {import("./types").MoveValue} MoveValue */
/** @typedef {import("./types").Turn} Turn */

const root = /** @type {HTMLElement} */ (document.getElementById("study"));
root.replaceChildren();
const live = /** @type {HTMLElement} */ (document.getElementById("live"));
const wanted = new URLSearchParams(location.search);
/** What is not saved is kept by the browser: a new study, the one before it, and changes to kept ones under their ids. */
const DRAFT = "kamon-study", BEFORE = "kamon-study-before";
const DEEPEST = 2;

let tree = new Tree(emptyStudy(""));
/** @type {Map<string, Board>} */
const boards = new Map();
/** @type {Board | null} */
let board = null;
/** @type {import("./types").Insight | null} */
let insight = null;
/** @type {"idle" | "waiting" | "thinking"} */
let engine = "idle";
let deep = 0;
/** @type {import("./types").Review | null} */
let review = null;
/** @type {[number, number] | null} */
let reviewing = null;
/** The line that is reviewed, or was. */
let reviewed = "";
let kept = root.dataset.study ?? "";
let mine = true;
let changed = false;
/** Is the draft in the browser of this study? */
let drafted = false;
/** The address that was copied last. */
let copied = "";
let message = "";
let problem = "";
/** @type {Arrangement | null} */
let arranging = null;

const analyst = new Analyst(onTold, (error) => {
  engine = "idle";
  reviewing = null;
  message = errorWords(error);
  update();
});

// --- The engine --------------------------------------------------------------------------------

/** @param {any} told */
function onTold(told) {
  if (told.type === "review") {
    if (told.line !== reviewed) return;
    if (told.error) message = t("The engine is not installed on this server.");
    if (told.progress) reviewing = told.progress;
    if (told.turns) { if (!review) live.textContent = t("The review is ready."); review = told; }
    if (told.end) { reviewing = null; think(); }
  } else if (told.line === tree.line()) {
    if (told.error) message = t("The engine is not installed on this server.");
    engine = told.end ? "idle" : told.waiting ? "waiting" : "thinking";
    const known = insight?.value;
    if (told.moves) insight = told;
    if (insight && insight.value !== known && insight.value) live.textContent = verdict();
  }
  update();
}

function think(more = 0) {
  deep = more;
  if (!board || board.outcome || !preferences.engine || reviewing) return;
  engine = "thinking";
  analyst.ask("study", tree.line(), deep);
}

function startReview() {
  const line = tree.line(tree.onward([]));
  if (line !== reviewed) review = null;
  reviewing = [0, 1];
  engine = "idle";
  reviewed = line;
  analyst.ask("review", reviewed);
  update();
}

/** @param {MoveValue} move */
function valueWords(move) {
  if (!move.value) return t("not proven yet");
  if (move.value === "draw") return t("draws");
  if (move.distance === null) return move.value === "win" ? t("wins") : t("loses");
  return move.value === "win" ? t("wins in {n}", { n: move.distance }) : t("loses in {n}", { n: move.distance });
}

/** @param {MoveValue} move */
function valueSign(move) {
  if (!move.value) return "?";
  if (move.value === "draw") return "=";
  return (move.value === "win" ? "+" : "−") + (move.distance ?? "");
}

/** The moves that nobody can better: of those that win, the quickest; of those that lose, the longest. */
function bestMoves() {
  const first = insight?.moves[0];
  if (!insight?.value || !first) return [];
  return insight.moves.filter((move) => move.value === insight?.value && (move.distance === first.distance || move.distance === null)).map((move) => move.move);
}

function marks() {
  const best = bestMoves();
  return Object.fromEntries((insight?.moves ?? []).map((move) => [move.move, {
    kind: move.value ?? /** @type {const} */ ("open"), text: valueSign(move), words: valueWords(move), best: best.includes(move.move),
  }]));
}

function verdict() {
  if (!board?.turn || !insight) return "";
  const side = board.turn === "black" ? t("Black") : t("White"), other = board.turn === "black" ? t("White") : t("Black");
  const length = insight.moves.every((move) => move.value !== insight?.value || move.distance !== null) ? insight.moves[0]?.distance : null;
  if (insight.value === "draw") return t("A draw with best play.");
  if (!insight.value) return t("Not proven yet.");
  const winner = insight.value === "win" ? side : other;
  return length ? t("{side} wins in {n} with best play.", { side: winner, n: length }) : t("{side} wins with best play.", { side: winner });
}

// --- Moving about ------------------------------------------------------------------------------

async function arrive() {
  const line = tree.line();
  insight = null;
  engine = "idle";
  deep = 0;
  if (!reviewing) analyst.stop();
  try {
    const known = boards.get(line) ?? await ask(`/api/board?line=${encodeURIComponent(line)}`);
    boards.set(line, known);
    if (line !== tree.line()) return;
    board = known;
    think();
  } catch (error) {
    message = errorWords(/** @type {any} */ (error));
  }
  update();
}

/** @param {Branch[]} path */
function goTo(path) {
  tree.path = path;
  message = "";
  arrive();
}

/** @param {string} move */
function play(move) {
  if (tree.play(move)) touch();
  message = "";
  live.textContent = move;
  const shown = element();
  if (shown) shown.landed = move;
  arrive();
}

/** Something is new that is not saved yet; the browser keeps it meanwhile. */
function touch() {
  changed = true;
  if (!kept || mine) keepDraft();
}

/** @param {string} key @returns {import("./types").Study | null} */
function draft(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? "null");
    return found?.study?.start ? found.study : null;
  } catch { return null; }
}

function keepDraft() {
  try {
    const old = drafted || kept ? null : draft(DRAFT);
    if (old?.children.length) localStorage.setItem(BEFORE, JSON.stringify({ study: old }));
    drafted = true;
    localStorage.setItem(kept ? `${DRAFT}-${kept}` : DRAFT, JSON.stringify({ study: tree.study }));
  } catch { /* A browser that keeps nothing still studies. */ }
}

/** What has just been saved needs no draft; one of another study stays. */
function dropDraft() {
  if (drafted || (kept && mine))
    try { localStorage.removeItem(kept && mine ? `${DRAFT}-${kept}` : DRAFT); } catch { /* as above */ }
}

/** @param {import("./types").Study} study @param {boolean} [atEnd] Look at the end of its main line, not at its start. */
function open(study, atEnd = false) {
  tree = new Tree({ start: study.start, title: study.title ?? "", comment: study.comment ?? "", children: study.children ?? [], tags: study.tags ?? {}, end: study.end ?? null });
  review = null;
  reviewed = "";
  if (reviewing) { reviewing = null; analyst.stop(); }
  arranging = null;
  goTo(atEnd ? tree.onward([]) : []);
}

/** @param {string} text */
async function read(text) {
  try {
    if (text.length > 60_000) throw { code: "too-large" };
    const found = await ask("/api/studies/read", { text });
    problem = found.problem ? t("Read up to an error: {what}", { what: found.problem }) : "";
    openNew(found);
    return true;
  } catch (error) {
    message = errorWords(/** @type {any} */ (error));
    update();
    return false;
  }
}

/** Begin a study that is nobody's yet. @param {import("./types").Study} study */
function openNew(study) {
  kept = "";
  mine = true;
  drafted = false;
  history.replaceState(null, "", "/study");
  open(study);
  touch();
}

/** Change places with the study before. */
function goBack() {
  const before = draft(BEFORE);
  if (before) openNew(before);
}

async function keep() {
  try {
    const answer = await ask(kept && mine ? `/api/studies/${kept}` : "/api/studies", tree.study);
    dropDraft();
    kept = answer.id;
    mine = true;
    changed = false;
    history.replaceState(null, "", `/study/${kept}`);
    message = "";
    live.textContent = t("Saved.");
  } catch (error) {
    message = errorWords(/** @type {any} */ (error));
  }
  update();
}

async function saveRecord() {
  const response = await fetch("/api/studies/record", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(tree.study) }).catch(() => null);
  if (!response?.ok) {
    message = errorWords(response ? await response.json().catch(() => ({ code: "offline" })) : { code: "offline" });
    update();
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = "kamon.pgn";
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Play on from somewhere against the computer at its best. @param {string[]} moves @param {"black" | "white"} side */
async function playOn(moves, side) {
  try {
    const game = await ask("/api/games", { against: "computer", level: levelCount(), side, layout: tree.study.start, moves, name: preferences.name });
    location.href = `/game/${game.id}`;
  } catch (error) {
    message = errorWords(/** @type {any} */ (error));
    update();
  }
}

/** Only a study that starts from an empty board has the moves that a game needs. */
const playable = () => !tree.study.start.includes(" ");
/** @param {number} ply */
const sideAt = (ply) => (ply % 2 ? "white" : "black");

// --- What is shown -----------------------------------------------------------------------------

const element = () => /** @type {import("./board.js").KamonBoard | null} */ (root.querySelector("kamon-board"));
/** @param {string} label @param {() => void} action @param {string} [kind] */
const button = (label, action, kind = "quiet") => html`<button type="button" class=${kind} @click=${action}>${label}</button>`;

/** @param {Board} shown */
function endWords(shown) {
  const outcome = shown.outcome;
  if (!outcome) return shown.turn === "black" ? t("Black to play.") : t("White to play.");
  if (!outcome.winner) return t("A draw: every token is covered and nobody has won.");
  const who = outcome.winner === "black" ? t("Black") : t("White"), other = outcome.winner === "black" ? t("White") : t("Black");
  if (outcome.by.length > 1) return t("{winner} wins by a link and a loop at once.", { winner: who });
  if (outcome.by[0] === "connection") return t("{winner} wins by linking two opposite sides.", { winner: who });
  if (outcome.by[0] === "loop") return t("{winner} wins by closing a loop.", { winner: who });
  return t("{winner} wins: {loser} has nothing to play.", { winner: who, loser: other });
}

/** @param {Board} shown */
function enginePanel(shown) {
  if (shown.outcome) return nothing;
  const nodes = insight ? (insight.nodes < 1e6 ? `${Math.round(insight.nodes / 1000)} k` : `${(insight.nodes / 1e6).toFixed(1)} M`) : "0";
  return html`<section class="engine" aria-label=${t("Solver")}>
    <div class="row"><label class="check"><input type="checkbox" .checked=${preferences.engine} @change=${(/** @type {Event} */ event) => {
      prefer({ engine: /** @type {HTMLInputElement} */ (event.target).checked });
      if (preferences.engine) think(); else { analyst.stop(); engine = "idle"; insight = null; update(); }
    }}> ${t("Solver")}</label>
    ${engine === "waiting" ? html`<span class="small">${t("Others study as well: one moment …")}</span>` : nothing}
    ${engine === "thinking" ? html`<span class="small thinking">${t("{n} positions", { n: nodes })}</span>${button(t("Stop"), () => { analyst.stop(); engine = "idle"; update(); })}` : nothing}
    ${engine === "idle" && preferences.engine && !reviewing && !insight?.done ? button(t("Think deeper"), () => think(Math.min(DEEPEST, deep + 1))) : nothing}</div>
    ${insight ? html`<p class="verdict">${verdict()}</p>
      <ul class="values">${insight.moves.map((move) => html`<li><button type="button" class="value-move ${move.value ?? "open"} ${bestMoves().includes(move.move) ? "best" : ""}" @click=${() => play(move.move)}>
        <strong>${move.move}</strong> <span>${valueWords(move)}${!move.value && move.estimate !== null ? html` <small>${t("estimated {n} %", { n: Math.round(100 * move.estimate) })}</small>` : nothing}</span></button></li>`)}</ul>
      ${insight.pv.length ? button(t("Show the line that proves it"), () => { const line = insight?.pv ?? []; const path = tree.path; for (const move of line) if (tree.play(move)) touch(); goTo(path.concat(tree.path.slice(path.length, path.length + 1))); }) : nothing}
      <p class="small">${t("Numbers count the placements of both sides until the end.")}</p>` : nothing}</section>`;
}

/** One line of moves, and the variations where it parts. @param {Branch[]} before @returns {unknown} */
function treeView(before) {
  /** @type {unknown[]} */
  const words = [];
  let path = before;
  for (let children = tree.children(path); children.length; children = tree.children(path)) {
    const [main, ...others] = children;
    words.push(moveButton([...path, main]));
    for (const other of others) words.push(html`<span class="variation">(${moveButton([...path, other])}${treeView([...path, other])})</span>`);
    path = [...path, main];
  }
  return words;
}

/** @param {Branch[]} path */
function moveButton(path) {
  const branch = path[path.length - 1], ply = path.length - 1 + startPly();
  const here = branch === tree.path[tree.path.length - 1];
  const number = ply % 2 === 0 || path.length === 1 ? `${Math.floor(ply / 2) + 1}${ply % 2 ? "…" : "."} ` : "";
  const glyph = branch.glyphs.includes(4) ? "??" : branch.glyphs.includes(2) ? "?" : "";
  return html`<button type="button" class="move ${here ? "here" : ""}" aria-current=${here ? "true" : nothing} @click=${() => goTo(path)}>${number}${branch.move}${glyph}</button>${branch.comment ? html`<span class="said">${branch.comment}</span>` : nothing} `;
}

const startPly = () => { const pieces = tree.study.start.split(" ")[1] ?? ""; return pieces.replace(/[^xo]/g, "").length; };

function treePanel() {
  const last = tree.path[tree.path.length - 1];
  return html`<section class="moves" aria-label=${t("Moves")}><div class="row">
      <button type="button" class="quiet step" aria-label=${t("First position")} ?disabled=${!tree.path.length} @click=${() => goTo([])}>«</button>
      <button type="button" class="quiet step" aria-label=${t("One move back")} ?disabled=${!tree.path.length} @click=${() => goTo(tree.path.slice(0, -1))}>‹</button>
      <button type="button" class="quiet step" aria-label=${t("One move forward")} ?disabled=${!tree.children().length} @click=${() => goTo([...tree.path, tree.children()[0]])}>›</button>
      <button type="button" class="quiet step" aria-label=${t("Last position")} ?disabled=${!tree.children().length} @click=${() => goTo(tree.onward())}>»</button>
      ${tree.aside ? button(t("Make it the main line"), () => { tree.promote(); touch(); update(); }) : nothing}
      ${last ? button(t("Delete from here"), () => { tree.cut(); touch(); arrive(); }) : nothing}</div>
    <div class="tree">${treeView([])}</div>
    <label>${t("Comment")} <textarea rows="2" maxlength="2000" .value=${last ? last.comment : tree.study.comment} @input=${(/** @type {Event} */ event) => {
      const text = /** @type {HTMLTextAreaElement} */ (event.target).value;
      if (last) last.comment = text; else tree.study.comment = text;
      touch();
      update();
    }}></textarea></label></section>`;
}

function sharePanel() {
  const line = encodeURIComponent(tree.line()), whole = encodeURIComponent(tree.line(tree.onward()));
  const look = `&edition=${preferences.edition}&theme=${document.documentElement.dataset.theme === "dark" ? "dark" : "light"}`;
  const address = kept ? `${location.origin}/study/${kept}` : `${location.origin}/study?line=${line}`;
  return html`<details class="share"><summary>${t("Keep and share")}</summary>
    <label>${t("Title")} <input type="text" maxlength="80" .value=${tree.study.title} @input=${(/** @type {Event} */ event) => { tree.study.title = /** @type {HTMLInputElement} */ (event.target).value; touch(); update(); }}></label>
    <div class="row">${button(kept && mine ? t("Save") : kept ? t("Keep a copy of my own") : t("Keep this study"), keep, "primary")}${kept && mine && changed ? html`<span class="small">${t("not saved yet")}</span>` : nothing}</div>
    <p class="row"><input type="text" readonly .value=${address} aria-label=${t("Address")} @focus=${(/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).select()}>
      ${button(copied === address ? t("Copied.") : t("Copy"), async () => { copied = await copyText(address, root.querySelector(".share input[readonly]")) ? address : ""; live.textContent = copied ? t("Copied.") : ""; update(); })}</p>
    <p class="row">${button(t("Save as PGN"), saveRecord)}
      <a class="button quiet" href="/api/picture.svg?line=${line}${look}" download="kamon.svg">SVG</a>
      <a class="button quiet" href="/api/picture.png?line=${line}${look}" download="kamon.png">PNG</a>
      <a class="button quiet" href="/api/film.gif?line=${whole}${look}" download="kamon.gif">GIF</a>
      <a class="button quiet" href="/api/film.webp?line=${whole}${look}" download="kamon.webp">WebP</a></p></details>`;
}

function openPanel() {
  return html`<details class="open" ?open=${!tree.study.children.length && wanted.size === 0 && !kept}><summary>${t("Open another position")}</summary>
    <label>${t("A record (PGN), a position, or a board")} <textarea id="pasted" rows="3" spellcheck="false"></textarea></label>
    <div class="row">${button(t("Open"), () => read(/** @type {HTMLTextAreaElement} */ (document.getElementById("pasted")).value), "primary")}
      ${draft(BEFORE) ? button(t("Back to the study before"), goBack, "") : nothing}
      ${button(t("A shuffled board"), () => board && read(inRows(shuffled(board.tokens))), "")}
      ${button(t("Arrange by hand"), () => { if (!board) return; analyst.stop(); arranging = new Arrangement(board, root, readArranged, () => { arranging = null; update(); }); update(); }, "")}</div></details>`;
}

/** @param {string} line */
async function readArranged(line) {
  if (await read(line)) return;
  if (arranging) { arranging.message = message; message = ""; update(); }
}

function reviewSection() {
  if (!tree.study.children.length) return nothing;
  const progress = reviewing
    ? html`<p role="status" class="small">${t("The solver goes through the game …")} <progress max=${reviewing[1]} value=${reviewing[0]}></progress>
      ${button(t("Stop"), () => { analyst.stop(); reviewing = null; update(); }, "quiet")}</p>`
    : nothing;
  if (reviewing && !review) return html`<section class="review"><h2>${t("Review")}</h2>${progress}</section>`;
  if (!review || tree.line(tree.onward([])) !== reviewed) return html`<div class="row">${button(t("Review this game"), startReview, "primary")}</div>`;
  const found = review;
  return html`<section class="review"><h2>${t("Review")}</h2>${progress}${reviewPanel(found, tree.path.length, {
    go: (ply) => goTo(tree.onward([]).slice(0, ply)),
    tryOut: (turn) => showLine(turn),
    playOn: playable() ? (turn) => playOn([...tree.onward([]).slice(0, turn.ply).map((branch) => branch.move)], sideAt(turn.ply)) : null,
  })}<div class="row">${!reviewing && !found.done ? button(t("Prove more"), startReview) : nothing}
    ${button(t("Write the review into the record"), () => writeReview(found))}</div></section>`;
}

/** Put what the review says beside the moves, and the better lines as variations. @param {import("./types").Review} found */
function writeReview(found) {
  const main = tree.onward([]), here = tree.path;
  found.turns.forEach((turn, at) => {
    const branch = main[at], words = turnWords(turn), glyph = turn.lost === 2 ? 4 : turn.lost ? 2 : turn.doubtful ? 6 : 0;
    if (words && !branch.comment.includes(words)) branch.comment = [branch.comment, words].filter(Boolean).join(" ");
    if (glyph && !branch.glyphs.includes(glyph)) branch.glyphs.push(glyph);
    tree.path = main.slice(0, at);
    if (turn.lost) for (const move of turn.line) tree.play(move);
  });
  tree.path = here;
  touch();
  update();
}

/** Put the better line beside the game, and step into it. @param {Turn} turn */
function showLine(turn) {
  const start = tree.onward([]).slice(0, turn.ply - startPly());
  tree.path = start;
  for (const move of turn.line) if (tree.play(move)) touch();
  goTo(tree.path.slice(0, start.length + 1));
}

function update() {
  if (arranging) { arranging.update(); return; }
  if (!board) {
    if (message) render(html`<p class="error" role="alert">${message}</p><p><a class="button" href="/study">${t("A new study")}</a></p>`, root);
    return;
  }
  const shown = board;
  render(html`
    <section class="table" aria-label=${t("Board")}><kamon-board></kamon-board></section>
    <aside class="panel">
      <p class="status">${tree.study.title || endWords(shown)}</p>${tree.study.title ? html`<p class="note">${endWords(shown)}</p>` : nothing}
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
      ${message ? html`<p class="error" role="alert">${message}</p>` : nothing}
      ${shown.need && !shown.outcome ? html`<div class="need"><div class="need-token">${tokenPicture(shown.need, preferences.edition)}</div><p><span class="small">${t("To match")}</span><br><strong>${needWords(shown.need, preferences.edition)}</strong></p></div>` : nothing}
      ${enginePanel(shown)}
      ${treePanel()}
      ${playable() && !shown.outcome ? html`<div class="row">${button(t("Play on from here against the computer"), () => playOn(tree.path.map((branch) => branch.move), sideAt(tree.path.length)))}</div>` : nothing}
      ${reviewSection()}
      ${sharePanel()}
      ${openPanel()}
    </aside>`, root);
  const view = element();
  if (!view) return;
  if (!view.dataset.studying) {
    view.dataset.studying = "yes";
    view.addEventListener("kamon-play", (event) => play(/** @type {CustomEvent<{cell: string}>} */ (event).detail.cell));
  }
  view.board = shown;
  view.edition = preferences.edition;
  view.coordinates = true;
  view.playable = !shown.outcome;
  view.values = marks();
  view.label = t("Board");
  view.update();
}

// --- The beginning -----------------------------------------------------------------------------

async function begin() {
  try {
    const unsaved = draft(DRAFT);
    if (kept) {
      const study = await ask(`/api/studies/${kept}`);
      mine = study.mine;
      const newer = mine ? draft(`${DRAFT}-${kept}`) : null;
      changed = newer !== null;
      open(newer ?? study);
    } else if (wanted.get("game")) {
      const response = await fetch(`/api/games/${encodeURIComponent(wanted.get("game") ?? "")}/record`);
      if (!response.ok) throw await response.json();
      open(await ask("/api/studies/read", { text: await response.text() }));
      if (wanted.has("review")) startReview();
    } else if (wanted.get("line")) {
      open(await ask("/api/studies/read", { text: wanted.get("line") }), true);
    } else if (unsaved) {
      drafted = true;
      open(unsaved);
    } else {
      const tokens = shuffled([..."ABCDEF"].flatMap((symbol) => [..."123456"].map((suit) => symbol + suit)).concat("--"));
      open(emptyStudy(inRows(tokens)));
    }
  } catch (error) {
    message = errorWords(/** @type {any} */ (error));
    update();
  }
}

onPreferences(update);
addEventListener("pagehide", () => analyst.stop());
begin();
