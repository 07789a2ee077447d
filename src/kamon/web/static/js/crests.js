// Crests, the faces of levels and people, and the signs of buttons. They have one ink and no colour, because colours
// belong to tokens.
import data from "../artwork.js";
import { html, svg } from "../vendor/lit-html.js";
import { preferences } from "./shell.js";
import { LEVEL_COUNT, levelDescription, levelName, t } from "./words.js";

/** @typedef {import("./page").Side} Side */

const { artwork, editions, drawing } = /** @type {import("./page").Artwork} */ (data);
const STONE = "0,-45 39,-22.5 39,22.5 0,45 -39,22.5 -39,-22.5";
/** The suits whose enclosures levels have: three levels each, and the six symbols go round twice. */
const ENCLOSURES = ["2", "1", "3", "6"];
/** A person has the crest of the side that they play. */
const PEOPLE = { black: "A", white: "C" };

/** A sign that is drawn with lines. @param {string} d */
export const icon = (d) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${d}/></svg>`;

/** @param {number} level */
const symbolOf = (level) => "ABCDEF"[(level - 1) % 6];

/** @param {string} kind @param {string} symbol @param {unknown} field @param {number} scale */
const crest = (kind, symbol, field, scale) => html`<svg class="crest ${kind}" viewBox="-48 -48 96 96"
  aria-hidden="true">${field}<path class="symbol" fill-rule="evenodd" transform="scale(${scale})"
    d=${artwork[editions[preferences.edition].symbols[symbol]]}/></svg>`;

/** The crest of a level. @param {number} level */
function levelCrest(level) {
  const enclosure = drawing.enclosures[ENCLOSURES[Math.floor((level - 1) / 3)]];
  return crest("", symbolOf(level), svg`<path class="field" transform="scale(1.12)" d=${enclosure}/>`, 0.6);
}

/** A stone seen from above: a hexagon, or the foot of a pawn in the edition of 2007. */
const stoneField = () =>
  editions[preferences.edition].lifts
    ? svg`<circle class="field" r="43"/>`
    : svg`<polygon class="field" points=${STONE}/>`;

/** The face of a player on a stone of their side. @param {Side} side @param {number} level 0 for a person. */
export const playerCrest = (side, level) => crest(side, level ? symbolOf(level) : PEOPLE[side], stoneField(), 0.64);

/** A stone of a side, without a crest. @param {Side} side */
export const stone = (side) => html`<svg class="crest stone ${side}" viewBox="-48 -48 96 96" aria-hidden="true"
  >${stoneField()}</svg>`;

/**
 * What is shown where there is nothing yet, and the way to something.
 * @param {string} words @param {string} href @param {string} label
 */
export const emptyPlace = (words, href, label) => html`<div class="empty-place">
  <div class="avatar">${playerCrest("black", 0)}</div>
  <p>${words}</p><p><a class="button primary" href=${href}>${label}</a></p></div>`;

/** @param {number} level */
const isBeaten = (level) => preferences.beaten.includes(level);

/** The twelve levels to choose from. Those that one has beaten are gilded. @param {(level: number) => void} onPick */
export function levelPicker(onPick) {
  const { level } = preferences;
  const face = (/** @type {unknown} */ _, /** @type {number} */ at) => {
    const n = at + 1;
    const name = t("Level {n}: {name}", { n, name: levelName(n) });
    const words = isBeaten(n) ? `${name} (${t("beaten")})` : name;
    return html`<label class=${isBeaten(n) ? "beaten" : ""} title=${words}><input type="radio" name="level"
      .checked=${n === level} aria-label=${words} @change=${() => onPick(n)}>${levelCrest(n)}</label>`;
  };
  return html`<fieldset class="levels"><legend class="hidden">${t("Level")}</legend>
    <div class="faces">${Array.from({ length: LEVEL_COUNT }, face)}</div>
    <p class="said"><strong>${level}. ${levelName(level)}</strong>
      <span class="small">${levelDescription(level)}</span></p></fieldset>`;
}
