// Words in the visitor's language. The English text is the key; {names} are filled in.
import data from "../artwork.js";

const language = document.documentElement.lang || "en";
/** @type {Record<string, string>} */
const words = language === "en" ? {} : (await import(`../words/${language}.js`)).default;

/** @param {string} text @param {Record<string, string | number>} [values] */
export function t(text, values = {}) {
  return (words[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Say a token in words. @param {string} token @param {import("./types").EditionName} name */
export function tokenWords(token, name) {
  if (token === "--") return t("neutral");
  const edition = /** @type {import("./types").Artwork} */ (data).editions[name];
  const symbol = t(edition.symbols[token[0]]), suit = t(edition.suits[token[1]]);
  return edition.lifts ? t("{sign} × {count}", { sign: symbol, count: token[1] }) : t("{symbol}, {colour}", { symbol, colour: suit });
}

/** Say what matches a token. @param {string} token @param {import("./types").EditionName} name */
export function needWords(token, name) {
  const edition = /** @type {import("./types").Artwork} */ (data).editions[name];
  const symbol = t(edition.symbols[token[0]]), suit = t(edition.suits[token[1]]);
  return edition.lifts
    ? t("the sign {sign}, or any sign × {count}", { sign: symbol, count: token[1] })
    : t("symbol {symbol}, or colour {colour}", { symbol, colour: suit });
}

/** The name of a level. @param {number} level */
export const levelName = (level) => t(/** @type {import("./types").Artwork} */ (data).levels[level - 1]);

/** How many levels there are. */
export const levelCount = () => /** @type {import("./types").Artwork} */ (data).levels.length;

/** What a level is like. @param {number} level */
export const levelDescription = (level) => t(/** @type {import("./types").Artwork} */ (data).descriptions[level - 1]);

export { language };
