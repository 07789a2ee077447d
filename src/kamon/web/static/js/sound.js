// Soft sounds, made without files: a stone that lands on wood, and a chord at the end.

/** In hertz: c, e, g. */
const CHORD = [262, 330, 392];
/** @type {AudioContext | null} */
let context = null;

/** @param {number} pitch @param {number} length @param {number} loudness @param {number} [delay] */
function tone(pitch, length, loudness, delay = 0) {
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

/** @param {"stone" | "end"} what */
export function play(what) {
  try {
    if (what === "stone") tone(420, 0.12, 0.12);
    else for (const [index, pitch] of CHORD.entries()) tone(pitch, 0.9, 0.06, index * 0.09);
  } catch {
    // The game goes on without it.
  }
}
