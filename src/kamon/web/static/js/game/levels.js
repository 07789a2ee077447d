// When to offer another level of the computer: after two wins in a row a harder one, after three losses an easier one.

/** How many games in a row are enough. */
const WINS = 2;
const LOSSES = 3;

/** @typedef {Record<string, number>} Streaks By level: games won in a row, or lost if it is negative. */

/**
 * The streaks after one more game.
 * @param {Streaks} streaks @param {number} level @param {boolean | null} won Null for a draw.
 * @returns {Streaks}
 */
export function streaksAfter(streaks, level, won) {
  const before = streaks[level] ?? 0;
  if (won === null) return { ...streaks, [level]: 0 };
  return { ...streaks, [level]: won ? Math.max(0, before) + 1 : Math.min(0, before) - 1 };
}

/**
 * The levels that were beaten, after one more game.
 * @param {number[]} beaten @param {number} level @param {boolean | null} won Null for a draw.
 */
export const beatenAfter = (beaten, level, won) => (won && !beaten.includes(level) ? [...beaten, level] : beaten);

/**
 * The level to offer after the last game, if another one suits.
 * @param {Streaks} streaks @param {number} level @param {number} strongest
 */
export function offeredLevel(streaks, level, strongest) {
  const streak = streaks[level] ?? 0;
  if (streak >= WINS && level < strongest) return level + 1;
  return streak <= -LOSSES && level > 1 ? level - 1 : null;
}
