// The study board: any position, moves both ways, variations, comments, and what the solver proves.
import { html, render } from "../vendor/lit-html.js";
import { boardIn, errorLine, showBoard } from "./parts.js";
import { onPreferences } from "./shell.js";
import { analyst, desk, goTo, onChange, play, root, showError, update } from "./study/desk.js";
import { marksOf } from "./study/engine.js";
import { begin } from "./study/files.js";
import { bar, panel } from "./study/panel.js";
import { t } from "./words.js";

/** @typedef {import("./study/desk.js").Desk} Desk */

function show() {
  const hadFocus = root.contains(document.activeElement);
  if (desk.arranging) desk.arranging.update();
  else if (desk.board) showDesk(/** @type {Desk} */ (desk));
  else if (desk.message) showFailure(desk.message);
  if (hadFocus && !root.contains(document.activeElement)) catchFocus();
}

/** What had the focus is gone: it goes to the tab that is open, or to the board. */
function catchFocus() {
  const place = root.querySelector("[role=tab][aria-selected=true], [data-cell][tabindex='0']");
  if (place instanceof HTMLElement || place instanceof SVGElement) place.focus();
}

/** Nothing could be opened. @param {string} message */
function showFailure(message) {
  render(html`${errorLine(message)}<p><a class="button" href="/study">${t("A new study")}</a></p>`, root);
}

/** @param {Desk} shown */
function showDesk(shown) {
  render(
    html`<section class="table" aria-label=${t("Board")}><kamon-board></kamon-board>${bar(shown)}</section>
      ${panel(shown)}`,
    root,
  );
  showCurrentMove();
  showBoard(
    boardIn(root),
    {
      board: shown.board,
      coordinates: true,
      playable: !shown.board.outcome,
      values: shown.insight ? marksOf(shown.insight) : {},
    },
    { "kamon-play": play },
  );
}

/** The list of moves scrolls by itself, and the page does not. */
function showCurrentMove() {
  const list = /** @type {HTMLElement} */ (root.querySelector(".tree"));
  const here = /** @type {HTMLElement | null} */ (list.querySelector(".here"));
  if (!here) return;
  const { offsetTop, offsetHeight } = here;
  if (offsetTop < list.scrollTop || offsetTop + offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = offsetTop - list.clientHeight / 2;
}

// --- Stepping by keyboard ------------------------------------------------------------------------

/** Where one is after a key. @type {Record<string, () => import("./types").BranchView[]>} */
const STEPS = {
  ArrowLeft: () => desk.tree.path.slice(0, -1),
  ArrowRight: () => desk.tree.onward().slice(0, desk.tree.path.length + 1),
  Home: () => [],
  End: () => desk.tree.onward(),
};
/** Was the board last touched by a pointer? Then arrows do not lead from cell to cell. */
let isPointed = false;

/** @param {KeyboardEvent} event */
function onKey(event) {
  const step = STEPS[event.key];
  if (!step || !desk.board || desk.arranging || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) {
    isPointed = false;
    return;
  }
  const target = /** @type {Element} */ (event.target);
  if (target.closest("input, textarea, select, dialog, [role=tablist]")) return;
  if (target.closest("kamon-board") && !isPointed) return;
  event.preventDefault();
  event.stopPropagation();
  const path = step();
  if (path.length !== desk.tree.path.length) goTo(path);
}

addEventListener("pointerdown", ({ target }) => {
  isPointed = target instanceof Element && target.closest("kamon-board") !== null;
});
addEventListener("keydown", onKey, { capture: true });
onChange(show);
onPreferences(update);
addEventListener("pagehide", () => analyst.stop());
begin().catch(showError);
