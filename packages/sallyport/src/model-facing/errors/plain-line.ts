/** Frames of a stack, as JavaScript and Python write them, each a line of its own. */
const STACK_FRAME = /^\s*(?:at\s.*:\d+(?::\d+)?\)?|File ".*", line \d+.*)\s*$/;
/** What separates lines and words in any script, and what nobody sees. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
/** What begins a block, or ends one, however it is dressed up. */
const MARKER = /[[［⟦【〔❲](\s*\/?\s*tool[\s_-]*error)/giu;
/** Between frames and lines that a text is taken apart into; longer texts are cut before. */
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/;

/**
 * A text of anybody as part of one line: without stack frames, line breaks, control and invisible characters, and with no
 * marker of a block in it, so that nobody's words can pass for another member or another block (MOD-01).
 * @param lengthMax in UTF-16 units; a longer text ends with `…`
 */
export function plainLine(text: string, lengthMax: number): string {
  // Far more than is shown, so that frames and blanks that fall away do not shorten it; and a bound of the work.
  const lines = text.slice(0, lengthMax * 4).split(LINE_BREAK);
  const words = lines.filter((line) => !STACK_FRAME.test(line)).join(' ');
  // Compatibility forms first: a marker in full-width letters is a marker.
  const plain = words.normalize('NFKC').replaceAll(INVISIBLE, ' ').replaceAll(MARKER, '($1').trim();
  return shortened(plain, lengthMax, text.length > lengthMax * 4);
}

/** A text as a JSON string on one line: data that cannot be taken for anything else. */
export function quotedLine(text: string, lengthMax: number): string {
  return JSON.stringify(plainLine(text, lengthMax));
}

function shortened(text: string, lengthMax: number, wasCut: boolean): string {
  if (text.length <= lengthMax && !wasCut) return text;
  const cut = text.slice(0, lengthMax - 1);
  // No half of a character at the end.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
