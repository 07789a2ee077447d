// What every page has: the visitor's preferences, the dialog for them, and announcements for screen readers.

/**
 * @typedef {object} Preferences
 * @property {import("./page").EditionName} edition
 * @property {boolean} sound
 * @property {number} volume From 0 to 1.
 * @property {boolean} confirm Must a move be chosen twice?
 * @property {boolean} motion
 * @property {boolean} coordinates
 * @property {boolean} covered Are tokens under stones shown in full colour?
 * @property {boolean} notices Tell me when it is my turn.
 * @property {boolean} assistant
 * @property {boolean} engine Does the solver think on the study board?
 * @property {string} name
 * @property {number} level
 * @property {number} ladder Which list of levels `level` belongs to.
 * @property {number} lesson The step of the tutorial to open.
 * @property {number} learnt The last step of the tutorial that is done.
 * @property {Record<string, number>} streaks By level: games won in a row against it, or lost if it is negative.
 * @property {string} counted The last game that is counted in `streaks`.
 * @property {number[]} beaten The levels that were beaten in this browser.
 * @property {boolean} days Does the home page show on how many days one has played?
 */

const STORAGE_KEY = "kamon";
/** @type {Preferences} */
const DEFAULTS = {
  edition: "2020",
  sound: true,
  volume: 0.5,
  confirm: false,
  motion: true,
  coordinates: false,
  covered: false,
  notices: false,
  assistant: false,
  engine: true,
  name: "",
  level: 1,
  ladder: 2,
  lesson: 1,
  learnt: 0,
  streaks: {},
  counted: "",
  beaten: [],
  days: true,
};

/** The strongest level. */
const STRONGEST = 12;
// The levels that play like the eight of the first version.
const FIRST_LADDER = [1, 4, 5, 7, 9, 10, 11, 12];

/** @returns {Preferences} */
function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
    if (kept.level && !kept.ladder) kept.level = FIRST_LADDER[kept.level - 1] ?? DEFAULTS.level;
    return checked({ ...DEFAULTS, ...kept, ladder: DEFAULTS.ladder });
  } catch {
    return { ...DEFAULTS };
  }
}

/** What is stored may be from another version, or changed by hand. @param {Preferences} kept */
function checked(kept) {
  if (!(Number.isInteger(kept.level) && kept.level >= 1 && kept.level <= STRONGEST)) kept.level = DEFAULTS.level;
  if (!Array.isArray(kept.beaten)) kept.beaten = [];
  if (typeof kept.streaks !== "object" || !kept.streaks) kept.streaks = {};
  return kept;
}

export const preferences = load();

/** Does this visitor want nothing to move? */
export const isStill = () => !preferences.motion || matchMedia("(prefers-reduced-motion: reduce)").matches;
/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener */
export const onPreferences = (listener) => listeners.add(listener);

/** @param {Partial<Preferences>} changes */
export function prefer(changes) {
  Object.assign(preferences, changes);
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(preferences));
  } catch {
    // A browser that stores nothing can still play.
  }
  document.documentElement.classList.toggle("still", !preferences.motion);
  document.documentElement.classList.toggle("full-colour", preferences.covered);
  for (const listener of listeners) listener();
}

/** The part of the page that a module fills; the words for "loading" are taken out. @param {string} id */
export function emptyRoot(id) {
  const root = /** @type {HTMLElement} */ (document.getElementById(id));
  root.replaceChildren();
  return root;
}

/** Let a screen reader say something, even if it was the last thing said. @param {string} text */
export const announce = (text) => document.getElementById("live")?.replaceChildren(text);

/**
 * Put a text on the clipboard. Where the browser forbids it, its source is selected to be copied by hand.
 * @param {string} text @param {HTMLInputElement | null} source
 */
export async function copyText(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    source?.focus();
    source?.select();
    return false;
  }
}

// --- The dialog ----------------------------------------------------------------------------------

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("settings"));
const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement & HTMLSelectElement} */ (form.elements.namedItem(name));

function openSettings() {
  field("theme").value = document.documentElement.dataset.theme ?? "auto";
  field("edition").value = preferences.edition;
  for (const name of /** @type {const} */ (["sound", "motion", "coordinates", "covered", "notices", "confirm", "days"]))
    field(name).checked = preferences[name];
  field("volume").valueAsNumber = 100 * preferences.volume;
  dialog.showModal();
}

/** The server reads these too, so they are cookies. @param {string} name @param {string} value */
export function setCookie(name, value) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers.
  document.cookie = `${name}=${value}; path=/; max-age=34560000; samesite=lax`;
}

/** @param {string} language */
function setLanguage(language) {
  setCookie("kamon-language", language);
  location.reload();
}

/** @param {string} theme */
function setTheme(theme) {
  setCookie("kamon-theme", theme);
  document.documentElement.dataset.theme = theme;
}

/** Notices need the browser's permission; without it the box is cleared again. @param {HTMLInputElement} box */
async function setNotices(box) {
  const granted = box.checked && "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
  box.checked = granted;
  prefer({ notices: granted });
}

/** No volume and no sound are the same. @param {number} volume */
function setVolume(volume) {
  prefer({ volume, sound: volume > 0 });
  field("sound").checked = preferences.sound;
  field("volume").valueAsNumber = 100 * volume;
}

/** @param {Event} event */
function onSetting({ target }) {
  const input = /** @type {HTMLInputElement} */ (target);
  if (input.name === "language") setLanguage(input.value);
  else if (input.name === "theme") setTheme(input.value);
  else if (input.name === "edition") prefer({ edition: input.value === "2007" ? "2007" : "2020" });
  else if (input.name === "notices") setNotices(input);
  else if (input.name === "volume") setVolume(input.valueAsNumber / 100);
  else prefer({ [input.name]: input.checked });
  if (input.name === "sound" && preferences.sound && !preferences.volume) setVolume(DEFAULTS.volume);
}

/** Give up everything that this browser's secret holds, and what it has stored itself. */
async function forget() {
  const response = await fetch("/api/identity", { method: "DELETE" }).catch(() => null);
  if (!response?.ok) {
    document.getElementById("forget-error")?.removeAttribute("hidden");
    return;
  }
  localStorage.clear();
  location.href = "/";
}

// --- Without a network ---------------------------------------------------------------------------

/** Let a script of ours answer where there is no network. Browsers have none on an insecure page. */
function registerServiceWorker() {
  navigator.serviceWorker?.register("/service-worker.js").catch(() => {
    // Without it the browser says by itself that there is no network.
  });
}

if (document.readyState === "complete") registerServiceWorker();
else addEventListener("load", registerServiceWorker, { once: true });

document.getElementById("forget")?.addEventListener("click", forget);
document.getElementById("open-settings")?.addEventListener("click", openSettings);
form.addEventListener("change", onSetting);
for (const button of document.querySelectorAll("[data-language]"))
  button.addEventListener("click", () => setLanguage(/** @type {HTMLElement} */ (button).dataset.language ?? "en"));
prefer({});
