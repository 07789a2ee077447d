// What has not been saved on the server: the browser stores it, a new study under one key, the study before it
// under another, and changes to saved studies under their ids.

/** @typedef {import("../page").StudyTree} Study */

const NEW = "kamon-study";
const BEFORE = "kamon-study-before";

/** @param {string} id Of a saved study; a new one has none. */
const keyOf = (id) => (id ? `${NEW}-${id}` : NEW);

/** @param {string} key @returns {Study | null} */
function load(key) {
  try {
    const { study } = JSON.parse(localStorage.getItem(key) ?? "null") ?? {};
    return study?.start ? study : null;
  } catch {
    return null;
  }
}

/** @param {string} key @param {Study} study */
function store(key, study) {
  try {
    localStorage.setItem(key, JSON.stringify({ study }));
  } catch {
    // A browser that stores nothing can still study.
  }
}

/** The study that was open before a new one took its place. */
export const draftBefore = () => load(BEFORE);

/** @param {string} id Of a saved study, or nothing for a new one. */
export const draftOf = (id) => load(keyOf(id));

/** The draft of the study that is open. */
export class Draft {
  /** Is the draft of a new study that of the open one, and not of an earlier one? */
  #isOpen = false;

  /** Go on with the draft of a new study. */
  resume() {
    this.#isOpen = true;
  }

  /** Another new study is opened; it has no draft before it is changed. */
  startNew() {
    this.#isOpen = false;
  }

  /** @param {string} id @param {Study} study */
  keep(id, study) {
    const old = this.#isOpen || id ? null : load(NEW);
    if (old?.children.length) store(BEFORE, old);
    this.#isOpen = true;
    store(keyOf(id), study);
  }

  /**
   * What is saved needs no draft. Somebody else's study has none under its id.
   * @param {string} id @param {boolean} mine
   */
  drop(id, mine) {
    if (!this.#isOpen && !(id && mine)) return;
    try {
      localStorage.removeItem(keyOf(mine ? id : ""));
    } catch {
      // A browser that stores nothing has nothing to forget.
    }
  }
}
