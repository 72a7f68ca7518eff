/** A sentence or list item, with its position in the text. */
export interface Sentence {
  /** With single spaces. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Longest sentence that is judged in one piece, and by how much pieces of a longer one overlap, in characters. */
const SENTENCE_CHARS_MAX = 500;
const SENTENCE_OVERLAP = 150;
/** Shorter sentences contain no demand. */
const SENTENCE_CHARS_MIN = 8;

/** The target of a Markdown link says nothing about a sentence's demand. */
const LINK_TARGET = /\]\([^()\s]{1,500}\)/g;

const ENDS = /[.!?;。！？](?=\s|$)|\n\s{0,64}\n|\n[ \t]{0,64}(?:[-*•]|\d{1,2}[.)])/g;

/** Visits the sentences of a text in order; longer ones come in overlapping pieces. */
export function eachSentence(text: string, visit: (start: number, end: number) => void): void {
  let start = 0;
  for (;;) {
    ENDS.lastIndex = start;
    const mark = ENDS.exec(text);
    eachPiece(start, mark === null ? text.length : mark.index + 1, visit);
    if (mark === null) return;
    start = mark.index + mark[0].length;
  }
}

function eachPiece(start: number, end: number, visit: (start: number, end: number) => void): void {
  for (let at = start; at === start || at + SENTENCE_OVERLAP < end; at += SENTENCE_CHARS_MAX - SENTENCE_OVERLAP) {
    const until = Math.min(end, at + SENTENCE_CHARS_MAX);
    if (until - at >= SENTENCE_CHARS_MIN) visit(at, until);
  }
}

/** White space other than single spaces; most sentences have none. */
const NOT_SINGLE = /\s{2,}|[^\S ]/g;

/** The words of the sentence that stands at a place. */
export function sentenceAt(text: string, start: number, end: number): Sentence {
  const words = text.slice(start, end);
  const linked = words.includes('](') ? words.replace(LINK_TARGET, '](link)') : words;
  return { text: linked.replace(NOT_SINGLE, ' '), start, end };
}

/** Two sentences that are judged as one. */
export const joined = (one: Sentence, other: Sentence): Sentence => ({
  text: `${one.text} ${other.text.trimStart()}`,
  start: one.start,
  end: other.end,
});

/** All sentences of a text. */
export function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  eachSentence(text, (start, end) => sentences.push(sentenceAt(text, start, end)));
  return sentences;
}
