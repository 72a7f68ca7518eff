import type { Report } from '../finding.ts';
import type { Reading } from '../text/reading.ts';
import { SIGN } from '../text/signs.ts';
import { detectExecution } from './detect-execution.ts';
import { COMMAND } from './names.ts';
import { type Command, readCommand } from './read-command.ts';
import {
  hasArgument,
  isAlone,
  isAssignment,
  isEnumeration,
  isListOfWords,
  isProseBefore,
  startsAsCommand,
} from './surroundings.ts';

/** Most characters between a separator and the command after it. */
const GAP_MAX = 64;
/** Findings after which the rest of the text is not searched. */
const FINDINGS_MAX = 16;

interface Scan {
  readonly reading: Reading;
  readonly text: string;
  readonly codes: Uint16Array;
  readonly strict: boolean;
  readonly report: Report;
  /** True when the text is a document: several paragraphs or a program. */
  readonly document: boolean;
  /** True when it has rows of a table of Markdown. */
  readonly table: boolean;
  findings: number;
}

/** Looks for shell syntax appended to a value. A text that is a command line as a whole passes by default. */
export function detectCommand(reading: Reading, strict: boolean, report: Report): void {
  const { text, codes, signs, marks, markCount } = reading;
  const document = !strict && isDocument(text);
  const table = !strict && markCount > 0 && text.includes('|') && TABLE.test(text);
  const scan: Scan = { reading, text, codes, strict, report, document, table, findings: 0 };
  if (!scan.document) detectExecution(reading, strict, report);
  if ((signs & (SIGN.shell | SIGN.escape | SIGN.less)) === 0 || (!strict && startsAsCommand(reading))) return;
  let passed = 0;
  for (let mark = 0; mark < markCount && scan.findings < FINDINGS_MAX; mark++) {
    const at = marks[mark] ?? 0;
    if (at < passed) continue;
    const code = codes[at] ?? 0;
    // In a run of equal signs the last one decides.
    if (code === codes[at + 1] && (code === 96 || code === 10 || code === 13)) continue;
    if (scan.table && (code === 124 || code === 96 || code === 10 || code === 13)) continue;
    if (code === 59 || code === 124 || code === 38) passed = separated(scan, at, code);
    else if (code === 96) substituted(scan, at, at + 1, 'backtick');
    else if (code === 36) dollar(scan, at);
    else if (code === 60) redirected(scan, at);
    else if (code === 10 || code === 13 || (code === 92 && isEscapedLine(codes, at))) lined(scan, at);
  }
}

/** Two rows of a table, of which the second may be its line. */
const TABLE = /(?:^|\n)[ \t]{0,8}\|[^\n]{1,1000}\|[ \t]{0,8}\r?\n[ \t]{0,8}\|/;

/** A text with more lines is not a value. */
const VALUE_LINES_MAX = 3;

function isDocument(text: string): boolean {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
    if (++lines > VALUE_LINES_MAX) return true;
  return false;
}

/** Handles a command after `;`, `|`, `&` and their doubles. Returns the offset after the separator. */
function separated(scan: Scan, at: number, code: number): number {
  const { reading, strict, report } = scan;
  const start = afterGap(scan, at, at);
  const written = placeholderLength(scan, start) || patternLength(scan, start);
  if (written > 0) {
    reportFinding(scan, 'separated_command', at, start + written);
    return start + written;
  }
  const command = readCommand(reading, start);
  if (command !== undefined && isEnded(scan, command.end) && isCommand(scan, at, code, start, command)) {
    reportFinding(scan, 'separated_command', at, command.end);
  } else if (isAssignment(reading, start)) reportFinding(scan, 'separated_assignment', at, start);
  else if (strict && code !== 38 && start - at <= 2) report('separator', at, start);
  return start;
}

function reportFinding(scan: Scan, rule: string, start: number, end: number): void {
  scan.findings++;
  scan.report(rule, start, end);
}

/** Where a command may begin after a separator. */
function afterGap({ text, codes }: Scan, separator: number, from: number): number {
  const limit = Math.min(separator + GAP_MAX, text.length);
  let start = from;
  while (start < limit && isGap(codes[start] as number)) start++;
  return start;
}

/** Separators, blanks, quotes around a value, groups. */
function isGap(code: number): boolean {
  if (code <= 32) return true;
  return (
    code === 59 ||
    code === 124 ||
    code === 38 ||
    code === 39 ||
    code === 34 ||
    code === 40 ||
    code === 64 ||
    code === 96
  );
}

/** `{cat,/etc/passwd}` is a command with its arguments. */
function placeholderLength({ text, codes, document }: Scan, start: number): number {
  if (document || codes[start] !== 123) return 0;
  const found = /^\{(\w{1,18})(,[^\s}]{1,80})?\}/.exec(text.slice(start, start + 128));
  return found === null ? 0 : found[0].length;
}

/** A program named by a pattern or a variable of the shell, and a script that the shell reads: `/bin/c?t`, `$0`, `. /x`. */
const PATTERN =
  /^(?:\/(?:[\w?[\]-]{1,32}\/){1,4}[\w[\]-]{0,32}\?[\w?[\]-]{0,32}|\$(?:0|\{?(?:SHELL|BASH)\b\}?)|\.\s{1,4}(?:\.{0,2}|~)\/[\w./-]{1,80})(?=[\s;|&<]|$)/;

function patternLength({ text, codes, document }: Scan, start: number): number {
  const code = codes[start] ?? 0;
  if (document || (code !== 36 && code !== 46 && code !== 47)) return 0;
  return PATTERN.exec(text.slice(start, start + 160))?.[0].length ?? 0;
}

/** The name of a command is followed by the end, a blank, a redirection or another separator. */
function isEnded({ codes }: Scan, end: number): boolean {
  const code = codes[end] as number;
  return code <= 32 || ENDS[code] === 1;
}

const ENDS = new Uint8Array(128);
for (const each of ';|&<>)\'"`$%#,\\}') ENDS[each.charCodeAt(0)] = 1;

/** A member of JSON, whose text may be a command line. */
const MEMBER = /"\s{0,4}:\s{0,4}"/;

function isCommand(scan: Scan, at: number, code: number, start: number, command: Command): boolean {
  const { text, codes, strict, document } = scan;
  if (strict || command.marked) return true;
  const argument = hasArgument(text, command.end, command.name);
  if (command.kind === COMMAND.plain) return argument || !(document || isListOfWords(text, at, code));
  if (document) return false;
  if (isEnumeration(text, at, code)) return false;
  // After a doubled sign a quoted argument is one: no sentence and no expression continues like this.
  const quoted =
    code === 38 &&
    codes[at + 1] === 38 &&
    /^\s+["']/.test(text.slice(command.end, command.end + 4)) &&
    !MEMBER.test(text.slice(0, at));
  const bare = !quoted && isAlone(text, command.end);
  if (isProseBefore(text, at) || (code === 38 && isWordBefore(text, at))) return argument && !bare;
  return start >= at && (argument || bare);
}

/** `Food & Wine`. */
function isWordBefore(text: string, at: number): boolean {
  return /[a-z]\s$/i.test(text.slice(Math.max(0, at - 2), at));
}

/** `$(id)`, `${IFS}`, `$;cmd`. */
function dollar(scan: Scan, at: number): void {
  const next = scan.codes[at + 1];
  if (next === 40) substituted(scan, at, at + 2, 'substitution');
  else if (next === 123 && scan.text.startsWith('${IFS', at)) reportFinding(scan, 'hidden_blank', at, at + 6);
}

function substituted(scan: Scan, at: number, from: number, rule: string): void {
  const { text, document } = scan;
  // Markdown and documents about shells write commands between backticks.
  if (document || (rule === 'backtick' && isClosing(text, at))) return;
  let start = from;
  while (start < from + GAP_MAX && (text.charCodeAt(start) <= 32 || text.charCodeAt(start) === 96)) start++;
  const length = placeholderLength(scan, start);
  const command = length > 0 ? undefined : readCommand(scan.reading, start);
  if (length === 0 && (command === undefined || !isEnded(scan, command.end))) return;
  if (!scan.strict && (isProseBefore(text, at) || isProseAfter(text, start))) return;
  reportFinding(scan, rule, at, command?.end ?? start + length);
}

/** Characters of a line before a backtick that are read. */
const LINE_MAX = 400;

/** True for the second of two backticks in a line: what follows it stands outside. */
function isClosing(text: string, at: number): boolean {
  let isOpen = false;
  for (let before = at - 1; before >= Math.max(0, at - LINE_MAX) && text.charCodeAt(before) !== 10; before--)
    if (text.charCodeAt(before) === 96) isOpen = !isOpen;
  return isOpen;
}

function isProseAfter(text: string, start: number): boolean {
  const end = text.indexOf('`', start);
  return end >= 0 && /^[^\w;|&$]{0,3}\s[a-z]+ [a-z]+/i.test(text.slice(end + 1, end + 48));
}

/** `<{command}`: no markup or type syntax begins like this. */
function redirected(scan: Scan, at: number): void {
  const length = placeholderLength(scan, at + 1);
  if (length > 0) reportFinding(scan, 'redirection', at, at + 1 + length);
}

/** A line feed written as two characters. */
function isEscapedLine(codes: Uint16Array, at: number): boolean {
  const next = codes[at + 1];
  return next === 110 || next === 114;
}

/** A command after a line feed, in a value of few lines. */
function lined(scan: Scan, at: number): void {
  const { text, codes, strict, document } = scan;
  if (document) return;
  const start = afterGap(scan, at, codes[at] === 92 ? at + 2 : at + 1);
  const length = placeholderLength(scan, start);
  if (length > 0) reportFinding(scan, 'separated_command', at, start + length);
  const command = readCommand(scan.reading, start);
  if (command === undefined || !isEnded(scan, command.end)) return;
  const written = codes[at] === 92 && hasArgument(text, command.end, command.name);
  if (!strict && command.kind === COMMAND.english && codes[at] === 10 && isEnumeration(text, at, 10)) return;
  const alone = isAlone(text, command.end) || codes[command.end] === 10;
  if (strict || command.marked || (alone && !isProseBefore(text, at)) || written || isShellLine(text, command)) {
    reportFinding(scan, 'separated_command', at, command.end);
  }
}

function isShellLine(text: string, { kind, end, name }: Command): boolean {
  return kind === COMMAND.plain && hasArgument(text, end, name);
}
