/** Stack frames as JavaScript and Python write them, one per line. */
const STACK_FRAME = /^\s*(?:at\s.*:\d+(?::\d+)?\)?|File ".*", line \d+.*)\s*$/;
/** Separators of lines and words in any script, and invisible characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
/** The begin or end marker of a block, in any disguise. */
const MARKER = /[[［⟦【〔❲](\s*\/?\s*tool[\s_-]*error)/giu;
/** Splits a text into frames and lines; longer texts are cut before. */
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/;

/**
 * A foreign text as part of one line: without stack frames, line breaks, control and invisible characters, and without
 * block markers, so that it cannot imitate another member or another block (MOD-01).
 * @param lengthMax in UTF-16 units; a longer text ends with `…`
 */
export function plainLine(text: string, lengthMax: number): string {
  // Much more than is shown, so that removed frames and blanks do not shorten it; this also limits the work.
  const lines = text.slice(0, lengthMax * 4).split(LINE_BREAK);
  const words = lines.filter((line) => !STACK_FRAME.test(line)).join(' ');
  // Compatibility forms are normalised first: a marker in full-width letters is a marker.
  const plain = words.normalize('NFKC').replaceAll(INVISIBLE, ' ').replaceAll(MARKER, '($1').trim();
  return shortened(plain, lengthMax, text.length > lengthMax * 4);
}

/** A text as a JSON string on one line: data that cannot be confused with anything else. */
export function quotedLine(text: string, lengthMax: number): string {
  return JSON.stringify(plainLine(text, lengthMax));
}

function shortened(text: string, lengthMax: number, wasCut: boolean): string {
  if (text.length <= lengthMax && !wasCut) return text;
  const cut = text.slice(0, lengthMax - 1);
  // No half of a character at the end.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
