import type { Reading } from '../text/reading.ts';
import { COMMAND, COMMAND_LENGTH_MAX, commandKind, mayBeCommand } from './names.ts';

/** Most characters of a name in which a shell's dropped characters are skipped; they can hide a name. */
const NAME_READ_MAX = 128;

/** A command found in the text. */
export interface Command {
  readonly kind: number;
  readonly name: string;
  /** After the name. */
  readonly end: number;
  /** True when the name was given with its folder, or hidden with quotes and backslashes. */
  readonly marked: boolean;
}

/**
 * Reads the name of a command like a shell: without quotes, backslashes, carets and empty parameters, and without the
 * program's folder.
 */
export function readCommand({ text, codes }: Reading, start: number): Command | undefined {
  let at = start;
  while (at < start + COMMAND_LENGTH_MAX && isNamePart(codes[at] as number)) at++;
  // Common case: nothing in it is hidden.
  if (!isHiding(codes[at] as number)) return at === start ? undefined : plainCommand(text, codes, start, at);
  return readHidden(text, start);
}

/** Quotes, backslashes, carets, parameters, and what ends a folder. */
function isHiding(code: number): boolean {
  return code === 39 || code === 34 || code === 92 || code === 94 || code === 36 || code === 47;
}

/** Most words are excluded by their length and first letters. */
function plainCommand(text: string, codes: Uint16Array, start: number, end: number): Command | undefined {
  const may = mayBeCommand(end - start, codes[start] as number, codes[start + 1] as number);
  return may ? commandOf(text.slice(start, end), end, false) : undefined;
}

function readHidden(text: string, start: number): Command | undefined {
  let name = '';
  let marked = false;
  let quotes = 0;
  let at = start;
  const limit = Math.min(text.length, start + NAME_READ_MAX);
  while (at < limit) {
    const code = text.charCodeAt(at);
    const dropped = droppedLength(text, at, name !== '');
    if (dropped > 0) {
      marked ||= name !== '';
      if (name !== '' && (code === 39 || code === 34)) quotes += dropped;
      at += dropped;
    } else if (code === 92 && isLineEnd(text, at)) break;
    else if (code === 47 || (code === 92 && name !== '')) {
      marked = true;
      name = '';
      at++;
    } else if (isNamePart(code)) {
      name += text.charAt(at);
      at++;
    } else break;
  }
  // One quote within a word is an apostrophe.
  return quotes % 2 === 0 ? commandOf(name, at, marked) : undefined;
}

/** Suffixes added by Windows and scripts. */
const SUFFIX = /\.(?:exe|bat|com|ps1|sh)$/;

function commandOf(name: string, end: number, marked: boolean): Command | undefined {
  if (name === '' || name.length > COMMAND_LENGTH_MAX) return undefined;
  const lower = name.includes('.') ? name.toLowerCase().replace(SUFFIX, '') : name.toLowerCase();
  const kind = commandKind(lower);
  return kind === COMMAND.none ? undefined : { kind, name: lower, end, marked };
}

/** Number of units that a shell drops here. */
function droppedLength(text: string, at: number, within: boolean): number {
  const code = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  const quote = code === 39 || code === 34;
  // Two quotes in a row, or one between letters.
  if (quote && within) return next === code ? 2 : isLetter(next) ? 1 : 0;
  if (quote) return isLetter(next) || next === 47 ? 1 : 0;
  if (code === 92 && isLineEnd(text, at)) return 0;
  if ((code === 92 || code === 94) && isLetter(next)) return within && code === 92 && isFolder(text, at) ? 0 : 1;
  if (code === 36 && (next === 64 || next === 42)) return 2;
  return code === 36 && next === 123 ? emptyParameter(text, at) : 0;
}

/** A line feed written as two characters, not a hidden letter: the name ends here. */
function isLineEnd(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1);
  return (next === 110 || next === 114) && !isLetter(text.charCodeAt(at + 2));
}

/** A backslash in a Windows path: the part before it is longer than a hidden letter. */
function isFolder(text: string, at: number): boolean {
  return text.charCodeAt(at - 1) === 58 || /[\w:]{3}$/.test(text.slice(Math.max(0, at - 3), at));
}

/** `${@}` and the like expand to nothing. */
function emptyParameter(text: string, at: number): number {
  return /^\$\{[@*!]?\}/.exec(text.slice(at, at + 5))?.[0].length ?? 0;
}

function isNamePart(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 45 || code === 95 || code === 46 || code === 58;
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}
