// What every page has: the settings, errors in words, and asking the server.
import { t } from "./words.js";

/** @typedef {{edition: import("./types").EditionName, sound: boolean, motion: boolean, coordinates: boolean, notices: boolean, assistant: boolean, engine: boolean, name: string, level: number, ladder: number, lesson: number, learnt: number}} Preferences */

/** @type {Preferences} */
const defaults = { edition: "2020", sound: true, motion: true, coordinates: false, notices: false, assistant: false, engine: true, name: "", level: 1, ladder: 2, lesson: 1, learnt: 0 };

// The levels that play like the eight of the first version.
const FIRST_LADDER = [1, 4, 5, 7, 9, 10, 11, 12];

/** @returns {Preferences} */
function load() {
  try {
    const kept = JSON.parse(localStorage.getItem("kamon") ?? "{}");
    if (kept.level && !kept.ladder) kept.level = FIRST_LADDER[kept.level - 1] ?? defaults.level;
    return { ...defaults, ...kept, ladder: defaults.ladder };
  } catch {
    return { ...defaults };
  }
}

export const preferences = load();
/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener */
export const onPreferences = (listener) => listeners.add(listener);

/** @param {Partial<Preferences>} changes */
export function prefer(changes) {
  Object.assign(preferences, changes);
  try {
    localStorage.setItem("kamon", JSON.stringify(preferences));
  } catch {
    // A browser that keeps nothing still plays.
  }
  document.documentElement.classList.toggle("still", !preferences.motion);
  for (const listener of listeners) listener();
}

/** @param {string} name @param {string} value */
const remember = (name, value) => {
  document.cookie = `${name}=${value}; path=/; max-age=34560000; samesite=lax`;
};

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("settings"));
const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement & HTMLSelectElement} */ (form.elements.namedItem(name));

document.getElementById("open-settings")?.addEventListener("click", () => {
  field("theme").value = document.documentElement.dataset.theme ?? "auto";
  field("edition").value = preferences.edition;
  for (const name of /** @type {const} */ (["sound", "motion", "coordinates", "notices"])) field(name).checked = preferences[name];
  dialog.showModal();
});

/** @param {string} language */
function speak(language) {
  remember("kamon-language", language);
  location.reload();
}

for (const button of document.querySelectorAll("[data-language]"))
  button.addEventListener("click", () => speak(/** @type {HTMLElement} */ (button).dataset.language ?? "en"));

form.addEventListener("change", async (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target);
  if (input.name === "language") {
    speak(input.value);
  } else if (input.name === "theme") {
    remember("kamon-theme", input.value);
    document.documentElement.dataset.theme = input.value;
  } else if (input.name === "edition") {
    prefer({ edition: input.value === "2007" ? "2007" : "2020" });
  } else if (input.name === "notices") {
    const granted = input.checked && "Notification" in window && (await Notification.requestPermission()) === "granted";
    input.checked = granted;
    prefer({ notices: granted });
  } else {
    prefer({ [input.name]: input.checked });
  }
});
prefer({});

/** Say an error in the visitor's language. @param {{code?: string, message?: string, retry?: number}} error */
export function errorWords(error) {
  /** @type {Record<string, string>} */
  const known = {
    "not-your-turn": t("It is not your turn."),
    "not-your-seat": t("You are watching this game and have no seat in it."),
    "illegal-move": t("That cell cannot be played now."),
    "game-over": t("The game is over."),
    "not-started": t("The game waits for an opponent."),
    "not-over": t("The game is not over yet."),
    "seat-taken": t("Both seats are taken. You can watch."),
    "own-game": t("You have a seat in this game already."),
    "stale": t("The game has gone on in the meantime. Look at the board again."),
    "cannot-abort": t("A game can be aborted only before the second move."),
    "cannot-claim": t("Your opponent has not been away for two minutes."),
    "no-offer": t("There is no offer to answer any more."),
    "no-draw": t("The computer plays on."),
    "offered-already": t("You have offered that already."),
    "nothing-to-take-back": t("There is no move of yours to take back."),
    "rematched": t("The next game is set up already."),
    "no-such-game": t("There is no such game."),
    "no-such-study": t("There is no such study."),
    "not-your-study": t("This study is somebody else’s. Keep a copy of your own."),
    "engine-failed": t("The engine has failed. Try again."),
    "too-slow": t("That takes too long. Try again later."),
    // Which tokens are wrong only the server's own words tell.
    "bad-layout": [t("That is not a board of 37 tokens."), error.message && `(${error.message})`].filter(Boolean).join(" "),
    "bad-handover": t("This link has been used already, or is too old."),
    "no-handover": t("A game at one screen stays on that screen."),
    "bad-secret": t("Please allow cookies for this page: they hold your seat."),
    "bad-origin": t("This can only be done from our own page."),
    "too-many": t("Too much at once. Try again in {seconds} seconds.", { seconds: error.retry ?? 5 }),
    "storage": t("The server cannot save anything at the moment. Nothing has changed."),
    "too-large": t("That is too long."),
    "offline": t("No connection to the server."),
  };
  return known[error.code ?? ""] ?? t("Something went wrong: {what}", { what: error.message ?? error.code ?? "?" });
}

/** Ask the server. @param {string} path @param {unknown} [body] @returns {Promise<any>} */
export async function ask(path, body) {
  let response;
  try {
    response = await fetch(path, body === undefined ? {} : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    });
  } catch {
    throw { code: "offline" };
  }
  const answer = await response.json().catch(() => ({ code: "offline" }));
  if (!response.ok) throw answer;
  return answer;
}

/** Put a text where it can be pasted; where a browser does not let us, it is marked to be copied by hand. @param {string} text @param {HTMLInputElement | null} field */
export async function copyText(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    field?.focus();
    field?.select();
    return false;
  }
}

/** An id that is sent with a command, so that sending it twice does it once. */
export const commandId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Time left, as people read it. @param {number} ms */
export function timeWords(ms) {
  const seconds = Math.ceil(ms / 1000);
  if (seconds >= 172800) return t("{n} days", { n: Math.floor(seconds / 86400) });
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, index) => (index ? String(part).padStart(2, "0") : String(part))).join(":");
}

/** @param {string} control */
export function controlWords(control) {
  if (control === "-") return t("no clock");
  if (control.startsWith("1/")) {
    const days = Math.round(Number(control.slice(2)) / 86400);
    return days === 1 ? t("one day a move") : t("{n} days a move", { n: days });
  }
  const [initial, increment] = control.split("+").map(Number);
  return t("{minutes} min + {seconds} s", { minutes: initial / 60, seconds: increment });
}
