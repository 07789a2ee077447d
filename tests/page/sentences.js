// Stands in for the module that the server writes from Python: what errors are called.

/** @type {import("../../src/kamon/web/static/js/page").Sentences} */
export default {
  errors: {
    "bad-layout": "These are not the 37 tokens of the game.",
    "too-many": "Too many requests. Try again in {seconds} s.",
  },
  defects: { "missing-tokens": "missing: {tokens}", "waiting-side-won": "{side} holds a win" },
};
