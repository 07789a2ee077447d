// Stands in for the module that the server writes from Python: the names that texts are made of, and some measures.
import { readFileSync } from "node:fs";

const { drawing } = JSON.parse(readFileSync(new URL("../data/bodies.json", import.meta.url), "utf8"));

/** @type {Pick<import("../../src/kamon/web/static/js/page").Artwork, "editions" | "levels" | "descriptions" | "drawing">} */
export default {
  drawing,
  editions: {
    2020: {
      symbols: { A: "butterfly", B: "fish" },
      tokens: { A1: "red butterfly", B2: "blue fish" },
      any: { A: "any butterfly", B: "any fish", 1: "anything red", 2: "anything blue" },
      edges: { green: "green", blue: "blue", yellow: "yellow" },
      lifts: false,
    },
    2007: {
      symbols: { A: "eye", B: "cup" },
      tokens: { A1: "one eye", B2: "two cups" },
      any: { A: "any eye", B: "any cup", 1: "anything printed once", 2: "anything printed twice" },
      edges: { green: "snake", blue: "ibis", yellow: "frog" },
      lifts: true,
    },
  },
  levels: ["Duckling", "Oracle"],
  descriptions: ["Plays at random.", "Plays perfectly."],
};
