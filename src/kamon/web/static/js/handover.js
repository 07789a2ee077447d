// Take over a seat: the secret stands behind the # of the address, which browsers never send to a server.
import { html, render } from "../vendor/lit-html.js";
import { ask } from "./server.js";
import { emptyRoot } from "./shell.js";
import { errorWords, t } from "./words.js";

const root = emptyRoot("handover");
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

async function takeOver() {
  try {
    const { game } = await ask("/api/handover", { token });
    location.href = `/game/${game}`;
  } catch (error) {
    render(html`<p class="error" role="alert">${errorWords(/** @type {any} */ (error))}</p>`, root);
  }
}

render(
  html`<p>${t("Continue on this device?")}</p>
    <button type="button" class="primary" @click=${takeOver}>${t("Continue here")}</button>`,
  root,
);
