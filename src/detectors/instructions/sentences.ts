/** A sentence or item of a list, with its place in the text. */
export interface Sentence {
  /** With single spaces. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Longest sentence that is judged in one piece, and by how much pieces of a longer one overlap, in characters. */
const SENTENCE_CHARS_MAX = 500;
const SENTENCE_OVERLAP = 150;
/** Nothing shorter asks for anything. */
const SENTENCE_CHARS_MIN = 8;

/** Where a link of Markdown leads says nothing of what a sentence asks for. */
const LINK_TARGET = /\]\([^()\s]{1,500}\)/g;

const ENDS = /[.!?;。！？](?=\s|$)|\n\s{0,64}\n|\n[ \t]{0,64}(?:[-*•]|\d{1,2}[.)])/g;

/** Sentences of a text in order; what is longer than one comes in pieces that overlap. */
export function* sentencesOf(text: string): Generator<Sentence> {
  let start = 0;
  for (const { index, 0: mark } of text.matchAll(ENDS)) {
    yield* pieces(text, start, index + 1);
    start = index + mark.length;
  }
  yield* pieces(text, start, text.length);
}

function* pieces(text: string, start: number, end: number): Generator<Sentence> {
  for (let at = start; at === start || at + SENTENCE_OVERLAP < end; at += SENTENCE_CHARS_MAX - SENTENCE_OVERLAP) {
    const until = Math.min(end, at + SENTENCE_CHARS_MAX);
    if (until - at < SENTENCE_CHARS_MIN) continue;
    yield { text: text.slice(at, until).replace(LINK_TARGET, '](link)').replace(/\s+/g, ' '), start: at, end: until };
  }
}
