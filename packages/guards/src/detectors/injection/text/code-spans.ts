/** A part of a Markdown text that is shown literally. */
export interface CodeSpan {
  readonly start: number;
  readonly end: number;
}

/** Least pairs of words outside code for a document with code in it, as opposed to code with a word before it. */
const PROSE_PAIRS_MIN = 4;
/** Characters of code within a line. */
const INLINE_MAX = 400;

/**
 * The parts between fences, and those between backticks in a text that is otherwise prose or has the marks of a list or
 * quotation. A Markdown renderer shows them fully escaped.
 */
export function codeSpans(text: string): readonly CodeSpan[] {
  if (!text.includes('`')) return [];
  const fenced: CodeSpan[] = [];
  const spans: CodeSpan[] = [];
  let prose = 0;
  let fence = -1;
  for (let line = 0; line < text.length; ) {
    const feed = text.indexOf('\n', line);
    const end = feed < 0 ? text.length : feed;
    if (isFence(text, line, end)) {
      if (fence >= 0) fenced.push({ start: fence, end });
      fence = fence >= 0 ? -1 : line;
    } else if (fence < 0) prose += inlineSpans(text, line, end, spans);
    line = end + 1;
  }
  return prose >= PROSE_PAIRS_MIN ? [...fenced, ...spans] : fenced;
}

/** A list, quotation or heading before code. */
const MARKED = /^\s{0,8}(?:[-*+>]|#{1,6}|\d{1,3}\.) {1,4}(?:\S.*)?`/;
const MARK_CHARS_MAX = 80;

function isFence(text: string, start: number, end: number): boolean {
  return /^ {0,12}(?:```|~~~)/.test(text.slice(start, Math.min(end, start + 16)));
}

/** Adds the code of one line; returns the number of word pairs beside it. */
function inlineSpans(text: string, start: number, end: number, spans: CodeSpan[]): number {
  let prose = MARKED.test(text.slice(start, Math.min(end, start + MARK_CHARS_MAX))) ? PROSE_PAIRS_MIN : 0;
  let from = start;
  while (from < end) {
    const open = text.indexOf('`', from);
    if (open < 0 || open >= end) break;
    const close = text.indexOf('`', open + 1);
    if (close < 0 || close >= end) break;
    prose += wordPairs(text, from, open);
    if (close - open <= INLINE_MAX) spans.push({ start: open, end: close + 1 });
    from = close + 1;
  }
  return prose + wordPairs(text, from, end);
}

function wordPairs(text: string, start: number, end: number): number {
  return text.slice(start, end).match(/[a-z]{2,} (?=[a-z]{2,})/gi)?.length ?? 0;
}
