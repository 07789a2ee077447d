// Says to somebody who waits for any opponent that everybody here can see it, and how many that are.
import { ask } from "./server.js";
import { t } from "./words.js";

const INTERVAL = 10_000;

class ListedNote extends HTMLElement {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  connectedCallback() {
    this.textContent = t("You are listed on the home page of everybody here.");
    this.#look();
    this.#timer = setInterval(() => this.#look(), INTERVAL);
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  async #look() {
    if (document.hidden) return;
    const lobby = await ask("/api/lobby").catch(() => null);
    if (!lobby) return;
    const people = lobby.here > 1 ? t("People here now: {n}.", { n: lobby.here }) : t("Nobody else is here right now.");
    this.textContent = `${t("You are listed on the home page of everybody here.")} ${people}`;
  }
}

customElements.define("kamon-listed", ListedNote);
