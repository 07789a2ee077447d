// The calendar of the puzzles of the days.
import { html, nothing } from "../../vendor/lit-html.js";
import { dateLanguage, dayWords, t } from "../words.js";

/** @typedef {import("../types").CalendarView} Calendar */
/** @typedef {import("../types").PuzzleDayView} Day */

const months = new Intl.DateTimeFormat(dateLanguage, { month: "long", year: "numeric", timeZone: "UTC" });
const weekdays = new Intl.DateTimeFormat(dateLanguage, { weekday: "narrow", timeZone: "UTC" });
const DAY = 86_400_000;
/** A Monday. */
const MONDAY = Date.UTC(2026, 0, 5);
const GAP = html`<span></span>`;

/** The month before or after. @param {string} month As in 2026-11. @param {number} step */
export function monthAfter(month, step) {
  const [year, number] = month.split("-").map(Number);
  const count = 12 * year + number - 1 + step;
  return `${Math.floor(count / 12)}-${String((count % 12) + 1).padStart(2, "0")}`;
}

/** @param {Day} day */
function resultWords({ result }) {
  if (result === "solved") return t("solved");
  return result === "missed" ? t("missed") : t("not tried yet");
}

/** @param {Day} day @param {string} open */
function dayLink(day, open) {
  const number = Number(day.date.slice(8));
  const label = `${dayWords(day.date)}: ${resultWords(day)}`;
  const signs = { solved: "●", missed: "○" };
  const sign = day.result ? signs[day.result] : "";
  return html`<a href="/puzzles/day/${day.date}" class="day ${day.result ?? ""}" aria-label=${label}
    aria-current=${day.date === open ? "date" : nothing}><span>${number}</span><i aria-hidden="true">${sign}</i></a>`;
}

/**
 * A month of days. Those that are still to come have no puzzle yet.
 * @param {Calendar} calendar @param {string} open The day that is on the board. @param {(step: number) => void} turn
 */
export function calendarOf(calendar, open, turn) {
  const month = calendar.days[0].date.slice(0, 7);
  const first = Date.parse(`${month}-01T00:00Z`);
  const empty = (new Date(first).getUTCDay() + 6) % 7;
  const heads = Array.from(
    { length: 7 },
    (_, at) => html`<b aria-hidden="true">${weekdays.format(MONDAY + at * DAY)}</b>`,
  );
  return html`<section class="calendar" aria-label=${t("Calendar")}>
    <div class="months">
      ${month > calendar.first.slice(0, 7) ? arrow(t("Month before"), "‹", () => turn(-1)) : GAP}
      <h3>${months.format(first)}</h3>
      ${month < calendar.today.slice(0, 7) ? arrow(t("Month after"), "›", () => turn(1)) : GAP}
    </div>
    <div class="days">${heads}${Array.from({ length: empty }, () => GAP)}
      ${calendar.days.map((day) => dayLink(day, open))}</div></section>`;
}

/** @param {string} label @param {string} sign @param {() => void} action */
const arrow = (label, sign, action) =>
  html`<button type="button" class="quiet step" aria-label=${label} @click=${action}>${sign}</button>`;
