import { sha256 } from '@sallyport/std/sha256';

/** Characters of a passage, about; it ends with a paragraph where it can. */
const PASSAGE_CHARS = 1_000;
/** Passages of one document that are found by meaning; the rest of a longer one is found by its words. */
const PASSAGES_MAX = 64;

/** The text in pieces of a size that a meaning can be given to. Headings stand with what follows them. */
export function passagesOf(content: string): readonly string[] {
  const passages: string[] = [];
  let open = '';
  const close = (): void => {
    if (open.trim() !== '') passages.push(open.trim());
    open = '';
  };
  for (const paragraph of content.split(/\n\s*\n/)) {
    if (passages.length >= PASSAGES_MAX) break;
    if (open.length + paragraph.length > PASSAGE_CHARS || /^#{1,6} /.test(paragraph)) close();
    open += `${paragraph}\n\n`;
    while (open.length > 2 * PASSAGE_CHARS && passages.length < PASSAGES_MAX) {
      const cut = cutAt(open, PASSAGE_CHARS);
      const rest = open.slice(cut);
      open = open.slice(0, cut);
      close();
      open = rest;
    }
  }
  close();
  return passages.slice(0, PASSAGES_MAX);
}

/** The text by which a passage is found by meaning, which its document's title belongs to. */
export const meaningText = (title: string, passage: string): string => `${title}\n${passage}`;

/** Names of the vectors of passages. */
export const passageHashes = (title: string, content: string): readonly string[] =>
  passagesOf(content).map((passage) => sha256(meaningText(title, passage)));

/** The last end of a sentence, else of a word, before a place. */
function cutAt(text: string, most: number): number {
  const before = text.slice(0, most);
  const sentence = before.lastIndexOf('. ') + 1;
  if (sentence > most / 2) return sentence;
  const word = before.lastIndexOf(' ');
  return word > most / 2 ? word : most;
}
