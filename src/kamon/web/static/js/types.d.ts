// Written by tools/page_types.py from the server's description: run `make page-types`.

/** For how many milliseconds each side has been away. */
export interface AbsentView {
  black: number | null;
  white: number | null;
}

/** The share of each side's moves that kept the value; None where too little is proven. */
export interface AccuracyView {
  black: number | null;
  white: number | null;
}

/** Study a position, or review the game that led to it, and tell what is found as it is found. */
export interface Analyse {
  type: "study" | "review";
  line: string;
  deep?: number;
}

/** The opponent's winning cells, the moves that lose at once, and those that win at once. */
export interface AssistanceView {
  threats: string[];
  losing: string[];
  winning: string[];
}

/** A board: also what may be played, and what each move would allow in turn. */
export interface BoardView {
  tokens: string[];
  stones: string;
  last: string | null;
  turn: "black" | "white" | null;
  need: string | null;
  legal: string[];
  replies: Record<string, string[]>;
  chain: string[];
  outcome: OutcomeView | null;
}

/** A move with what was said about it, and the moves after it, the main one first. */
export interface Branch {
  move: string;
  comment?: string;
  glyphs?: number[];
  clock?: number | null;
  children?: Branch[];
}

/** A move as the page gets it. */
export interface BranchView {
  move: string;
  comment: string;
  glyphs: number[];
  clock: number | null;
  children: BranchView[];
}

/** The days of a month up to today. */
export interface CalendarView {
  today: string;
  first: string;
  days: PuzzleDayView[];
}

/** The clock of a game: also by which control it runs. */
export interface ClockView {
  black: number;
  white: number;
  running: "black" | "white" | null;
  control: string;
}

/** What a command has caused. */
export interface CommandAnswer {
  number: number;
  events: EventView[];
}

/** What a command needs to know. */
export interface CommandData {
  cell?: string | null;
  what?: "draw" | "takeback" | "rematch" | null;
  board?: "same" | "new" | null;
  name?: string | null;
}

/** A day: its board, how people fared, the visitor's own games, and from the next day the truth. */
export interface DayView {
  date: string;
  previous: string | null;
  next: string | null;
  board: BoardView;
  results: LevelResultView[];
  mine: SummaryView[];
  truth: TruthView | null;
}

/** One thing that is wrong with a board, a position, a move or a record. */
export interface DefectView {
  code: string;
  values: Record<string, string | number>;
}

/** A command over the socket. */
export interface Do {
  do: "abort" | "accept" | "claim" | "decline" | "join" | "move" | "offer" | "resign";
  id: string;
  after?: number | null;
  data?: CommandData;
  type: "do";
  game: string;
}

/** The command with this id is safely written. */
export interface DoneMessage {
  type: "done";
  id: string;
  number: number;
}

/** A study to be kept again. ``seen`` is when it was last changed, as far as the page knows. */
export interface EditedStudy {
  start: string;
  title?: string;
  comment?: string;
  children?: Branch[];
  tags?: Record<string, unknown>;
  end?: End | null;
  seen?: number | null;
}

/** How a game ended off the board, after so many moves of the main line. */
export interface End {
  winner: "black" | "white" | null;
  by: "resignation" | "time" | "agreement";
  after: number;
}

/** Nothing more comes for this question. */
export interface EndMessage {
  type: "study" | "review";
  line: string;
  end: true;
}

/** How a game ended off the board, as the page gets it. */
export interface EndView {
  winner: "black" | "white" | null;
  by: string;
  after: number;
}

/** What went wrong: a code with its values, to be said in any language; and in English. */
export interface ErrorAnswer {
  code: string;
  message: string;
  values?: Record<string, string | number>;
  defects?: DefectView[];
  line?: number | null;
  column?: number | null;
  retry?: number | null;
}

/** A message was refused; ``id`` is null where it had none. */
export interface ErrorMessage {
  type: "error";
  id: string | null;
  code: string;
  message: string;
  values?: Record<string, string | number>;
  defects?: DefectView[];
  line?: number | null;
  column?: number | null;
  retry?: number;
}

/** Something that happened; which of the other fields there are depends on ``kind``. */
export interface EventView {
  number: number;
  at: number;
  kind: string;
  layout?: string;
  control?: string;
  ladder?: number;
  black?: SeatView;
  white?: SeatView;
  shared?: boolean;
  listed?: boolean;
  opening?: string[];
  score?: ScoreView;
  day?: string;
  side?: "black" | "white";
  name?: string;
  cell?: string;
  ply?: number;
  what?: "draw" | "takeback" | "rematch";
  board?: "same" | "new";
  winner?: "black" | "white" | null;
  by?: string;
  game?: string;
  away?: number;
}

/** A fair board: who wins it, and how many of its first moves win; the others do not. */
export interface FairBoardView {
  seed: string;
  winner: "black" | "white" | null;
  winning: number;
  first_moves: number;
}

/** The fair ones of the boards on which every first move is settled. */
export interface FairBoards {
  boards: FairBoardView[];
}

/** Something to do in a game. ``id`` makes it happen once however often it is sent. */
export interface GameCommand {
  do: "abort" | "accept" | "claim" | "decline" | "join" | "move" | "offer" | "resign";
  id: string;
  after?: number | null;
  data?: CommandData;
}

/** Several games. */
export interface GameList {
  games: SummaryView[];
}

/** A game, and everything that has happened in it. */
export interface GameView {
  view: RoomView;
  events: EventView[];
}

/** A one-time link, the same as a QR code, and for how long it is good. */
export interface HandoverView {
  address: string;
  picture: string;
  minutes: number;
}

/** How the server is: ``problems`` names the parts that do not work, and why. */
export interface HealthView {
  ok: boolean;
  version: string;
  thinking: number;
  compiling: boolean;
  problems: Record<string, string>;
}

/** Help: what the puzzle teaches, or the cells among which the right one is. */
export interface HintView {
  themes: string[];
  cells: string[];
  change: number | null;
  progress: ProgressView | null;
}

/** Help with the next move: step 1 what it teaches, 2 two cells to choose from, 3 the cell. */
export interface HintWish {
  moves: string[];
  step: number;
}

/** A study that is kept: by whom, and when it was last changed. */
export interface KeptStudy {
  start: string;
  title: string;
  comment: string;
  children: BranchView[];
  tags: Record<string, string>;
  end: EndView | null;
  id: string;
  mine: boolean;
  updated: number;
}

/** One step of the tutorial, in the visitor's language. */
export interface LessonView {
  number: number;
  count: number;
  title: string;
  text: string;
  done: string;
  marked: boolean;
  threats: string[];
  board: BoardView;
  tries: Record<string, TryView>;
}

/** How people fared against a level: finished games, wins, the stones of the shortest win. */
export interface LevelResultView {
  level: number;
  games: number;
  wins: number;
  shortest: number | null;
}

/** A chain that connects two opposite edges. */
export interface LinkView {
  colour: "green" | "blue" | "yellow";
  chain: string[];
}

/** What is going on: how many people are here, your running games, and others' that wait. */
export interface LobbyView {
  here: number;
  mine: SummaryView[];
  open: SummaryView[];
}

/** Such a position, if one was found in the last games. */
export interface MissedAnswer {
  missed: MissedView | null;
}

/** A move that is tried in a position of one's own game. */
export interface MissedMove {
  cell: string;
}

/** A position of one of the visitor's own games, in which they could have done better. */
export interface MissedView {
  game: string;
  ply: number;
  board: BoardView;
  side: "black" | "white";
  goal: "win" | "draw";
}

/** What a move is worth for who plays it: proven, with its distance to the end, or estimated. */
export interface MoveValueView {
  move: string;
  value: "win" | "draw" | "loss" | null;
  distance: number | null;
  estimate: number | null;
}

/** What comes of a move: the board after it, and the reply with the board after that. */
export interface MoveView {
  right: boolean;
  done: boolean;
  board: BoardView;
  reply: string | null;
  after: BoardView | null;
  value: "win" | "draw" | "loss";
  plies: number;
  change: number | null;
  result: "solved" | "missed" | null;
  progress: ProgressView | null;
  solution: SolutionView | null;
  run: RunView | null;
}

/** The solver's moves so far, the newest last; ``run`` tells that the clock runs. */
export interface Moves {
  moves: string[];
  run?: boolean;
}

/** What the blocked side would have had to match. */
export interface NeededView {
  symbol: string;
  suit: number;
}

/** A game to set up. Of ``layout`` and ``seed`` at most one; without either it is shuffled. */
export interface NewGame {
  against?: "computer" | "friend" | "anyone" | "self";
  side?: "black" | "white" | "random";
  level?: number;
  control?: string;
  layout?: string | null;
  seed?: string | null;
  day?: boolean;
  name?: string;
  moves?: string[];
}

/** A secret for a program that plays. */
export interface NewIdentity {
  secret: string;
}

/** Which side has offered what. */
export interface OffersView {
  draw?: "black" | "white";
  takeback?: "black" | "white";
  rematch?: "black" | "white";
}

/** How a game has ended on the board, with the cells that prove it. */
export interface OutcomeView {
  winner: "black" | "white" | null;
  by: string[];
  links: LinkView[];
  ring: string[];
  enclosed: string[];
  needed: NeededView | null;
}

/** Something that somebody has: a record, a position line, a position, a layout. */
export interface Pasted {
  text: string;
}

/** What a board looks like: tokens and stones in reading order, and the last cell played. */
export interface PictureView {
  tokens: string[];
  stones: string;
  last: string | null;
}

/** Somebody wants to know whether we are there. */
export interface Ping {
  type: "ping";
}

/** We are here. */
export interface PongMessage {
  type: "pong";
}

/** Whether somebody is connected for each side. */
export interface PresentView {
  black: boolean;
  white: boolean;
}

/** What is wrong with a text that was read only in part, and where. */
export interface ProblemView {
  message: string;
  defects: DefectView[];
  line: number | null;
  column: number | null;
}

/** How far a review is: so many of so many steps. */
export interface ProgressMessage {
  type: "review";
  line: string;
  progress: number[];
}

/** How the visitor does. ``sure`` tells whether the rating rests on enough puzzles. */
export interface ProgressView {
  rating: number;
  sure: boolean;
  solved: number;
  missed: number;
  streak: number;
  best_streak: number;
  best_run: number;
}

/** A day in the calendar: its puzzle, and how the visitor's first try ended. */
export interface PuzzleDayView {
  date: string;
  puzzle: string;
  result: "solved" | "missed" | null;
}

/** A puzzle to solve. ``result`` is how the visitor's first try ended, if there was one. */
export interface PuzzleView {
  id: string;
  line: string;
  board: BoardView;
  side: "black" | "white";
  goal: "win" | "draw" | "defend";
  turns: number;
  rating: number;
  tries: number;
  rated: boolean;
  result: "solved" | "missed" | null;
  date: string | null;
}

/** A study made of some text, and where the text stopped making sense. */
export interface ReadStudy {
  start: string;
  title: string;
  comment: string;
  children: BranchView[];
  tags: Record<string, string>;
  end: EndView | null;
  problem: ProblemView | null;
}

/** Whether the parts that a visitor needs answer. */
export interface ReadyView {
  ready: boolean;
  database: boolean;
  engine: boolean;
}

/** How a game has ended, on the board or off it. */
export interface ResultView {
  winner: "black" | "white" | null;
  by: string;
}

/** What is known of a game so far. */
export interface ReviewMessage {
  story: StoryView;
  moments: number[];
  turns: TurnView[];
  accuracy: AccuracyView;
  done: boolean;
  spent?: boolean;
  type: "review";
  line: string;
}

/** How a game stands, and which events have led there since the last message. */
export interface RoomMessage {
  type: "room";
  game: string;
  view: RoomView;
  events: EventView[];
}

/** A room, as somebody who plays for some sides, or watches, is told of it. */
export interface RoomView {
  id: string;
  number: number;
  status: "waiting" | "playing" | "over" | "aborted";
  you: ("black" | "white")[];
  shared: boolean;
  listed: boolean;
  seats: SeatsView;
  present: PresentView;
  absent: AbsentView;
  watchers: number;
  layout: string;
  moves: string[];
  board: BoardView;
  result: ResultView | null;
  can: ("join" | "move" | "resign" | "abort" | "draw" | "takeback" | "rematch")[];
  claim: number | null;
  offers: OffersView;
  next: string | null;
  score: ScoreView | null;
  day: string | null;
  clock: ClockView;
  assistance?: AssistanceView | null;
}

/** The run that is going on, if there is one. */
export interface RunAnswer {
  run: RunView | null;
}

/** A run against the clock: what is left in milliseconds, how many are solved, how many not. */
export interface RunView {
  left: number;
  score: number;
  misses: number;
  best: number;
  puzzle: PuzzleView | null;
}

/** Where a study is kept, and when it was. */
export interface SavedStudy {
  id: string;
  updated: number;
}

/** How a series of games stands: the wins of who sits on each side now, and the draws. */
export interface ScoreView {
  black: number;
  white: number;
  draws: number;
}

/** Who sits on a side. */
export interface SeatView {
  kind: "open" | "person" | "computer";
  name: string;
  level: number;
}

/** Both seats. */
export interface SeatsView {
  black: SeatView;
  white: SeatView;
}

export type SocketAnswer =
  | RoomMessage
  | DoneMessage
  | ErrorMessage
  | StudyMessage
  | ReviewMessage
  | ProgressMessage
  | WaitMessage
  | EndMessage
  | PongMessage;

export type SocketMessage = Watch | Do | Analyse | Stop | Ping;

/** What is told of a puzzle when it is over: its themes, and the whole game as a line. */
export interface SolutionView {
  themes: string[];
  line: string;
  solution: string[];
}

/** Nobody waits for the study or the review any more. */
export interface Stop {
  type: "stop";
}

/** What decided a game, in one word. */
export interface StoryView {
  kind: "mistake" | "flawless" | "proven" | "off-board" | "open" | "empty";
  winner: "black" | "white" | null;
  ply: number | null;
}

/** A start, as a layout or as the three fields of a position, and what was played from it. */
export interface Study {
  start: string;
  title?: string;
  comment?: string;
  children?: Branch[];
  tags?: Record<string, unknown>;
  end?: End | null;
}

/** The visitor's studies. */
export interface StudyList {
  studies: StudySummary[];
}

/** What is proven of a position so far. */
export interface StudyMessage {
  value: "win" | "draw" | "loss" | null;
  moves: MoveValueView[];
  pv: string[];
  nodes: number;
  done: boolean;
  spent: boolean;
  type: "study";
  line: string;
}

/** A study in a list. */
export interface StudySummary {
  id: string;
  title: string;
  updated: number;
  moves: number;
  board: PictureView | null;
}

/** A room in a list of games. */
export interface SummaryView {
  id: string;
  status: "waiting" | "playing" | "over" | "aborted";
  you: ("black" | "white")[];
  shared: boolean;
  listed: boolean;
  seats: SeatsView;
  turn: "black" | "white" | null;
  moves: number;
  control: string;
  left: TimeLeftView;
  result: ResultView | null;
  updated: number;
  age: number;
  board: PictureView;
}

/** The game in which this device has a seat now. */
export interface TakenOver {
  game: string;
}

/** A one-time token that carries a seat to this device. */
export interface Takeover {
  token: string;
}

/** What each side has left, in milliseconds, and whose clock runs. */
export interface TimeLeftView {
  black: number;
  white: number;
  running: "black" | "white" | null;
}

/** What is proven about a board: who wins with best play (None: nobody), and the first moves. */
export interface TruthView {
  winner: "black" | "white" | null;
  winning: string[];
  not_winning: string[];
  drawing: string[];
  unsettled: string[];
  line: string[];
}

/** What comes of a try: the board after it, and after the reply that refutes it. */
export interface TryView {
  good: boolean;
  why: string;
  board: BoardView | null;
  reply: string | null;
  after: BoardView | null;
}

/** One move of a reviewed game: the value before and after it, and what was better. */
export interface TurnView {
  ply: number;
  move: string;
  before: "win" | "draw" | "loss" | null;
  after: "win" | "draw" | "loss" | null;
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

/** The engine is busy with others: this question waits, in this place, about so many seconds. */
export interface WaitMessage {
  type: "study" | "review";
  line: string;
  waiting: true;
  place: number;
  seconds: number;
}

/** Begin to watch a game, having seen its events up to a number. */
export interface Watch {
  type: "watch";
  game: string;
  after?: number;
}
