// What only the page knows of; what the server tells is in types.d.ts.
export type Side = "black" | "white";
export type EditionName = "2020" | "2007";

export interface MoveMark {
  kind: "win" | "draw" | "loss" | "open";
  text: string;
  words: string;
  best: boolean;
}

export interface Edition {
  symbols: Record<string, string>;
  /** The names of the 36 tokens, as in B3: "blue fish". */
  tokens: Record<string, string>;
  /** What matches a symbol or a suit, as in B: "any fish", 3: "anything blue". */
  any: Record<string, string>;
  edges: Record<"green" | "blue" | "yellow", string>;
  lifts: boolean;
}

export interface Artwork {
  artwork: Record<string, string>;
  editions: Record<EditionName, Edition>;
  levels: string[];
  descriptions: string[];
  drawing: {
    radius: number;
    view: [number, number, number, number];
    centres: Record<string, [number, number]>;
    frame: [number, number];
    enclosures: Record<string, string>;
    scales: Record<string, number>;
    pips: Record<string, [number, [number, number][]]>;
    pad: string;
    pawn: string;
    pile: [number, number];
    sizes: Record<string, number>;
    beyond: number[][];
  };
}

/** A study as the page holds it. */
export type StudyTree = Omit<import("./types").ReadStudy, "problem">;

/** The sentences of the errors and of the defects of texts, by their codes. */
export interface Sentences {
  errors: Record<string, string>;
  defects: Record<string, string>;
}
