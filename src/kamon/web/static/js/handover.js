// Take over a seat: the secret stands behind the # of the address, which no server ever sees.
import { html, render } from "../vendor/lit-html.js";
import { ask, errorWords } from "./shell.js";
import { t } from "./words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("handover"));
root.replaceChildren();
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

render(html`<p>${t("Play on with this device?")}</p><button type="button" class="primary" @click=${take}>${t("Take over the seat")}</button>`, root);

async function take() {
  try {
    const { game } = await ask("/api/handover", { token });
    location.href = `/game/${game}`;
  } catch (error) {
    render(html`<p class="error" role="alert">${errorWords(/** @type {any} */ (error))}</p>`, root);
  }
}
