// What the server tells the page (docs/protocol.md).
export type Side = "black" | "white";
export type EditionName = "2020" | "2007";

export interface Link {
  colour: "green" | "blue" | "yellow";
  chain: string[];
}
export interface Outcome {
  winner: Side | null;
  by: string[];
  links: Link[];
  ring: string[];
  enclosed: string[];
  needed: { symbol: string; suit: number } | null;
}
export interface Board {
  tokens: string[];
  stones: string;
  last: string | null;
  turn: Side | null;
  need: string | null;
  legal: string[];
  replies: Record<string, string[]>;
  outcome: Outcome | null;
}
export interface Seat {
  kind: "open" | "person" | "computer";
  name: string;
  level: number;
}
export interface Assistance {
  threats: string[];
  losing: string[];
  winning: string[];
}
export interface RoomView {
  id: string;
  number: number;
  status: "waiting" | "playing" | "over" | "aborted";
  you: Side[];
  shared: boolean;
  listed: boolean;
  seats: Record<Side, Seat>;
  present: Record<Side, boolean>;
  absent: Record<Side, number | null>;
  watchers: number;
  layout: string;
  moves: string[];
  board: Board;
  result: { winner: Side | null; by: string } | null;
  takeback: boolean;
  offers: Record<string, Side>;
  next: string | null;
  clock: { control: string; black: number; white: number; running: Side | null };
  assistance?: Assistance | null;
}
export interface MoveMark {
  kind: "win" | "draw" | "loss" | "open";
  text: string;
  words: string;
  best: boolean;
}
/** A move of a study, and what follows it, the main continuation first. */
export interface Branch {
  move: string;
  comment: string;
  glyphs: number[];
  clock?: number | null;
  children: Branch[];
}
export interface Study {
  start: string;
  title: string;
  comment: string;
  children: Branch[];
  tags?: Record<string, string>;
  end?: { winner: Side | null; by: string; after: number } | null;
}
export interface MoveValue {
  move: string;
  value: "win" | "draw" | "loss" | null;
  distance: number | null;
  estimate: number | null;
}
export interface Insight {
  line: string;
  value: MoveValue["value"];
  moves: MoveValue[];
  pv: string[];
  nodes: number;
  done: boolean;
  spent: boolean;
}
export interface Turn {
  ply: number;
  move: string;
  before: MoveValue["value"];
  after: MoveValue["value"];
  estimate: number | null;
  best_estimate: number | null;
  lost: number;
  doubtful: boolean;
  better: string | null;
  quickest: boolean;
  line: string[];
  leaves: string[];
  ends: string | null;
  shortened: number | null;
}
export interface Story {
  kind: "mistake" | "flawless" | "proven" | "off-board" | "open" | "empty";
  winner: Side | null;
  ply: number | null;
}
export interface Review {
  line: string;
  story: Story;
  moments: number[];
  turns: Turn[];
  accuracy: Record<Side, number | null>;
  done: boolean;
}
export interface GameEvent {
  number: number;
  at: number;
  kind: string;
  [key: string]: unknown;
}
export interface StudySummary {
  id: string;
  title: string;
  updated: number;
  moves: number;
  board: Summary["board"];
}
export interface Summary {
  id: string;
  status: RoomView["status"];
  you: Side[];
  shared: boolean;
  seats: Record<Side, Seat>;
  turn: Side | null;
  moves: number;
  control: string;
  result: RoomView["result"];
  updated: number;
  age: number;
  board: { tokens: string[]; stones: string; last: string | null };
}
export interface Edition {
  symbols: Record<string, string>;
  suits: Record<string, string>;
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
  };
}
export interface LessonTry {
  good: boolean;
  why: string;
  board: Board | null;
  reply: string | null;
  after: Board | null;
}
export interface Lesson {
  number: number;
  count: number;
  title: string;
  text: string;
  done: string;
  marked: boolean;
  threats: string[];
  board: Board;
  tries: Record<string, LessonTry>;
}
