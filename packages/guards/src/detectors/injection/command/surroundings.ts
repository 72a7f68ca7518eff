import type { Reading } from '../text/reading.ts';
import { COMMAND } from './names.ts';
import { readCommand } from './read-command.ts';

/** Characters before a separator that are read to distinguish a sentence from a value. */
const BEFORE_MAX = 64;
/** Characters of arguments that are read. */
const ARGUMENT_MAX = 96;

/** Patterns of command arguments that words of a sentence do not match. */
const ARGUMENT =
  /^\s+(?:-{1,2}\w|\/\w|[\w.~]*[/\\]|[a-z]:\\|\$[\w{(]|%\w+%|\.{1,2}(?:\s|$|[/\\])|~|\*|["'`]|\d+(?:\s|$|[;|&)'"%.])|https?:|[<>]|[\w.+-]+@|\w+[\w.-]*\.\w+|@)/i;
/** First words of programs with subcommands. */
const SUBCOMMANDS: Readonly<Record<string, RegExp>> = {
  net: /^\s+(?:user|users|view|share|use|localgroup|group|start|stop|accounts|session|config|time)\b/i,
  netsh: /^\s+\w+/,
  reg: /^\s+(?:add|query|delete|save|export|import)\b/i,
  sc: /^\s+(?:query|config|create|stop|start)\b/i,
  echo: /^\s*\S/,
  export: /^\s+[A-Za-z_]\w{0,40}=/,
  which: /^\s+\S+\s*(?:$|[;|&])/,
  ping: /^\s+[\w.-]+\.\w+|^\s+localhost/,
};

/** True when the text after a command looks like its arguments. */
export function hasArgument(text: string, end: number, name: string): boolean {
  const rest = text.slice(end, end + ARGUMENT_MAX);
  return ARGUMENT.test(rest) || SUBCOMMANDS[name]?.test(rest) === true;
}

/** True when two words are side by side before this place, as in a sentence. */
export function isProseBefore(text: string, at: number): boolean {
  return /[a-z]{2,}[,.:]? [a-z]{2,}/i.test(text.slice(Math.max(0, at - BEFORE_MAX), at));
}

/** Least parts of a list in one value. */
const PARTS_MIN = 3;
/** Characters on both sides that are searched for the same separator. */
const LIST_LOOK = 120;

/** `id|name|type` and `name;date;type` are lists of names; none of their parts is empty. */
export function isEnumeration(text: string, at: number, code: number): boolean {
  const sign = String.fromCharCode(code);
  const parts = text.slice(Math.max(0, at - LIST_LOOK), at + LIST_LOOK).split(sign);
  return parts.length >= PARTS_MIN && parts.every((part) => /^\s?[\w.: -]+\s?$/.test(part) && /\w/.test(part));
}

/** Least parts of a list of words, among which may be names of programs. */
const WORDS_MIN = 4;

/** `go; rust; python; perl`: a list of words with blanks between them. */
export function isListOfWords(text: string, at: number, code: number): boolean {
  const sign = String.fromCharCode(code);
  const parts = text.slice(Math.max(0, at - LIST_LOOK), at + LIST_LOOK).split(sign);
  return (
    parts.length >= WORDS_MIN && parts.every((part, index) => /^[a-z+#]+$/i.test(index === 0 ? part : part.slice(1)))
  );
}

/** True when the text is a complete command line, as for a shell tool. */
export function startsAsCommand(reading: Reading): boolean {
  const { text, codes } = reading;
  // A line feed at the beginning does not count.
  let first = 0;
  while (isBlank(codes[first] as number)) first++;
  if (!isLetterOrFolder(codes[first] as number)) return false;
  const command = readCommand(reading, first);
  if (command === undefined) return false;
  const after = codes[command.end] as number;
  if (!(after <= 32 || after === 59 || after === 124 || after === 38)) return false;
  return command.kind === COMMAND.plain || command.marked || hasArgument(text, command.end, command.name);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function isLetterOrFolder(code: number): boolean {
  return ((code | 32) >= 97 && (code | 32) <= 122) || code === 47 || code === 46;
}

function isWordPart(code: number): boolean {
  return ((code | 32) >= 97 && (code | 32) <= 122) || (code >= 48 && code <= 57) || code === 95;
}

/** Only another separator or a quote follows the command. */
export function isAlone(text: string, end: number): boolean {
  return /^\s{0,8}(?:$|[;|&)'"`#\\<>%])/.test(text.slice(end, end + 10));
}

/** Characters of the name of a variable. */
const VARIABLE_MAX = 21;

/** `CMD=…;$CMD`. */
export function isAssignment({ text, codes }: Reading, start: number): boolean {
  let end = start;
  while (end < start + VARIABLE_MAX && isWordPart(codes[end] as number)) end++;
  // The pattern is used only after a name and its sign.
  if (codes[end] !== 61) return false;
  const found = /^([A-Za-z_]\w{0,20})=\S{1,120}?[;&|]\s{0,8}\$\{?(\w+)/.exec(text.slice(start, start + 180));
  return found !== null && found[1] === found[2];
}
