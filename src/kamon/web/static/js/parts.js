// Pieces that several pages are made of: buttons, fields, what to match, the board in its place, and sounds.
import { html, nothing } from "../vendor/lit-html.js";
import { tokenPicture } from "./board.js";
import { announce, copyText, onPreferences, preferences } from "./shell.js";
import { needWords, t } from "./words.js";

/** @typedef {import("./board.js").KamonBoard} KamonBoard */

/** @param {unknown} label @param {() => void} action @param {string} [kind] */
export const button = (label, action, kind = "quiet") =>
  html`<button type="button" class=${kind} @click=${action}>${label}</button>`;

/** @param {Event} event */
export const inputValue = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** @param {string} label @param {boolean} on @param {(on: boolean) => void} onChange */
export const toggle = (label, on, onChange) => html`<label class="switch"
  ><input type="checkbox" role="switch" .checked=${on} @change=${(/** @type {Event} */ event) =>
    onChange(/** @type {HTMLInputElement} */ (event.target).checked)}><i aria-hidden="true"></i>${label}</label>`;

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

/**
 * Share a text and an address by the device's own means, or put them on the clipboard.
 * @param {string} text @param {string} url @returns {Promise<boolean>} Were they copied?
 */
export async function shareText(text, url) {
  if (navigator.share) {
    await navigator.share({ title: "Kamon", text, url }).catch(() => undefined);
    return false;
  }
  const copied = await copyText(`${text}\n${url}`, null);
  announce(copied ? t("Copied.") : "");
  return copied;
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

/**
 * One tone: its pitch in hertz, to which share of that it falls, when it begins and how long it sounds in seconds.
 * @typedef {{pitch: number, fall: number, at: number, length: number, loudness: number, shape?: OscillatorType}} Tone
 * @typedef {"mine" | "theirs" | "low" | "end"} Sound
 */

/** @param {number} pitch @param {number} at @returns {Tone} */
const bell = (pitch, at) => ({ pitch, fall: 1, at, length: 1.1, loudness: 0.1, shape: "sine" });
/** @param {number} pitch @param {number} at @param {number} loudness @returns {Tone} */
const knock = (pitch, at, loudness) => ({ pitch, fall: 0.5, at, length: 0.12, loudness });

/**
 * All four differ in more than pitch: one low knock, two higher ones, a ticking clock, a chord that rises.
 * @type {Record<Sound, Tone[]>}
 */
const SOUNDS = {
  mine: [knock(290, 0, 0.24)],
  theirs: [knock(640, 0, 0.13), knock(520, 0.11, 0.1)],
  low: [0, 0.16, 0.32].map((at) => ({ pitch: 1180, fall: 0.98, at, length: 0.06, loudness: 0.09 })),
  end: [bell(262, 0), bell(330, 0.12), bell(392, 0.24), bell(523, 0.4)],
};

/** @type {AudioContext | null} */
let context = null;

/** @param {AudioContext} audio @param {Tone} tone */
function playTone(audio, { pitch, fall, at, length, loudness, shape = "triangle" }) {
  const start = audio.currentTime + at;
  const oscillator = audio.createOscillator();
  const gain = audio.createGain();
  oscillator.type = shape;
  oscillator.frequency.setValueAtTime(pitch, start);
  oscillator.frequency.exponentialRampToValueAtTime(pitch * fall, start + length);
  gain.gain.setValueAtTime(0.0001, start);
  gain.gain.exponentialRampToValueAtTime(2 * loudness * preferences.volume, start + 0.006);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + length);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start(start);
  oscillator.stop(start + length);
}

/** Play a sound as loud as the visitor wants it, or not at all. @param {Sound} what */
export function playSound(what) {
  if (!preferences.sound || !preferences.volume) return;
  try {
    context ??= new AudioContext();
    for (const tone of SOUNDS[what]) playTone(context, tone);
  } catch {
    // The game goes on without it.
  }
}

let heardVolume = preferences.volume;
// Whoever changes the volume hears how loud it is.
onPreferences(() => {
  if (heardVolume === preferences.volume) return;
  heardVolume = preferences.volume;
  playSound("mine");
});
