// Stands in for the module that the server writes from Python: the names that texts are made of, and some measures.
import { readFileSync } from "node:fs";

const { drawing } = JSON.parse(readFileSync(new URL("../data/bodies.json", import.meta.url), "utf8"));

/** @type {Pick<import("../../src/kamon/web/static/js/page").Artwork, "editions" | "levels" | "descriptions" | "errors" | "defects" | "drawing">} */
export default {
  drawing,
  editions: {
    2020: {
      symbols: { A: "butterfly", B: "fish" },
      suits: { 1: "red", 2: "blue" },
      edges: { green: "green", blue: "blue", yellow: "yellow" },
      lifts: false,
    },
    2007: {
      symbols: { A: "eye", B: "cup" },
      suits: { 1: "1", 2: "2" },
      edges: { green: "snake", blue: "ibis", yellow: "frog" },
      lifts: true,
    },
  },
  levels: ["First steps", "Oracle"],
  descriptions: ["Plays at random.", "Plays perfectly."],
  errors: {
    "bad-layout": "These are not the 37 tokens of the game.",
    "too-many": "Too many requests. Try again in {seconds} s.",
  },
  defects: { "missing-tokens": "missing: {tokens}", "waiting-side-won": "{side} holds a win" },
};
