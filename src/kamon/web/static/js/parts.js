// Pieces that several pages are made of: buttons, fields, what to match, the board in its place, and sounds.
import { html, nothing } from "../vendor/lit-html.js";
import { tokenPicture } from "./board.js";
import { announce, copyText, preferences } from "./shell.js";
import { needWords, t } from "./words.js";

/** @typedef {import("./board.js").KamonBoard} KamonBoard */

/** @param {string} label @param {() => void} action @param {string} [kind] */
export const button = (label, action, kind = "quiet") =>
  html`<button type="button" class=${kind} @click=${action}>${label}</button>`;

/** @param {Event} event */
export const inputValue = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** @param {string} label @param {boolean} checked @param {(checked: boolean) => void} onChange */
export const checkbox = (label, checked, onChange) => html`<label class="check"
  ><input type="checkbox" .checked=${checked} @change=${(/** @type {Event} */ event) =>
    onChange(/** @type {HTMLInputElement} */ (event.target).checked)}> ${label}</label>`;

/** An error in words, if there is one. @param {string} message */
export const errorLine = (message) => (message ? html`<p class="error" role="alert">${message}</p>` : nothing);

/** The token that has to be matched. @param {string} token */
export const needToMatch = (token) => html`<div class="need">
  <div class="need-token">${tokenPicture(token, preferences.edition)}</div>
  <p><span class="small">${t("To match")}</span><br>
    <strong>${needWords(token, preferences.edition)}</strong></p></div>`;

/**
 * A button that keeps the focus where there is no further step.
 * @param {string} label @param {string} sign @param {(() => void) | null} action Without one it does nothing.
 */
const stepButton = (label, sign, action) => html`<button type="button" class="quiet step" aria-label=${label}
  aria-disabled=${action ? "false" : "true"} @click=${action}>${sign}</button>`;

/**
 * The buttons that lead through a line of moves.
 * @param {Record<"first" | "back" | "forward" | "last", (() => void) | null>} steps @param {string} lastLabel
 */
export const stepButtons = ({ first, back, forward, last }, lastLabel) => html`
  ${stepButton(t("First position"), "«", first)}
  ${stepButton(t("One move back"), "‹", back)}
  ${stepButton(t("One move forward"), "›", forward)}
  ${stepButton(lastLabel, "»", last)}`;

/** A move that can be gone to. @param {string} label @param {boolean} here @param {() => void} action */
export const moveButton = (label, here, action) => html`<button type="button" class="move ${here ? "here" : ""}"
  aria-current=${here ? "true" : nothing} @click=${action}>${label}</button>`;

/**
 * An address, and a button that copies it.
 * @param {{address: string, label: string, copied: boolean, kind?: string}} shown
 * @param {(copied: boolean) => void} onCopied
 */
export function addressField({ address, label, copied, kind = "quiet" }, onCopied) {
  /** @param {Event} event */
  const copy = async ({ currentTarget }) => {
    const input = /** @type {HTMLElement} */ (currentTarget).parentElement?.querySelector("input") ?? null;
    const done = await copyText(address, input);
    announce(done ? t("Copied.") : "");
    onCopied(done);
  };
  /** @param {Event} event */
  const select = (event) => /** @type {HTMLInputElement} */ (event.target).select();
  return html`<p class="row"><input type="text" readonly .value=${address} aria-label=${label} @focus=${select}>
    <button type="button" class=${kind} @click=${copy}>${copied ? t("Copied.") : t("Copy")}</button></p>`;
}

/** @param {ParentNode} root */
export const boardIn = (root) => /** @type {KamonBoard | null} */ (root.querySelector("kamon-board"));

/**
 * Show something on the board, and listen to it from the first time on.
 * @param {KamonBoard | null} element
 * @param {Partial<import("./board.js").Shown>} shown
 * @param {Record<string, (cell: string) => void>} listeners By the names of the events.
 */
export function showBoard(element, shown, listeners) {
  if (!element) return;
  if (!element.dataset.ready) {
    element.dataset.ready = "yes";
    for (const [name, listener] of Object.entries(listeners))
      element.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail.cell));
  }
  Object.assign(element, { edition: preferences.edition, label: t("Board"), ...shown });
  element.update();
}

// --- Sounds --------------------------------------------------------------------------------------

/** In hertz: c, e, g. */
const CHORD = [262, 330, 392];
/** @type {AudioContext | null} */
let context = null;

/** @param {number} pitch @param {number} length @param {number} loudness @param {number} [delay] */
function playTone(pitch, length, loudness, delay = 0) {
  context ??= new AudioContext();
  const start = context.currentTime + delay;
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = "triangle";
  oscillator.frequency.setValueAtTime(pitch, start);
  oscillator.frequency.exponentialRampToValueAtTime(pitch * 0.6, start + length);
  gain.gain.setValueAtTime(loudness, start);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + length);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + length);
}

/** A stone that lands on wood, or a chord at the end, unless the visitor wants none. @param {"stone" | "end"} what */
export function playSound(what) {
  if (!preferences.sound) return;
  try {
    if (what === "stone") playTone(420, 0.12, 0.12);
    else for (const [index, pitch] of CHORD.entries()) playTone(pitch, 0.9, 0.06, index * 0.09);
  } catch {
    // The game goes on without it.
  }
}
