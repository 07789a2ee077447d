// The study board: any position, moves both ways, variations, comments, and what the solver proves.
import { html, render } from "../vendor/lit-html.js";
import { boardIn, errorLine, showBoard } from "./parts.js";
import { onPreferences } from "./shell.js";
import { analyst, desk, onChange, play, root, showError, update } from "./study/desk.js";
import { marksOf } from "./study/engine.js";
import { begin } from "./study/files.js";
import { panel } from "./study/panel.js";
import { t } from "./words.js";

/** @typedef {import("./study/desk.js").Desk} Desk */

function show() {
  if (desk.arranging) desk.arranging.update();
  else if (desk.board) showDesk(/** @type {Desk} */ (desk));
  else if (desk.message) showFailure(desk.message);
}

/** Nothing could be opened. @param {string} message */
function showFailure(message) {
  render(html`${errorLine(message)}<p><a class="button" href="/study">${t("A new study")}</a></p>`, root);
}

/** @param {Desk} shown */
function showDesk(shown) {
  render(
    html`<section class="table" aria-label=${t("Board")}><kamon-board></kamon-board></section>${panel(shown)}`,
    root,
  );
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

onChange(show);
onPreferences(update);
addEventListener("pagehide", () => analyst.stop());
begin().catch(showError);
